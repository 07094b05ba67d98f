// random_primitive.h: random operations with elements of 32-bit integers and bfloat16, which no
// recipe has: what the library does with types that the provider may ask for one day. Extents,
// post-ops and layouts are as in random recipes.
#pragma once

#include <cstdint>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/executor/primitives/guarded_step.h"
#include "plugins/dnnl/library/primitives.h"

namespace ephost_dnnl::test {

class RandomPrimitive {
 public:
  // The same seed makes the same operation.
  RandomPrimitive(uint64_t seed, const dnnl::engine& engine);

  // The library's implementation of this number, with its arguments. Throws dnnl::error if there is
  // none: at once where the library doesn't take the types.
  [[nodiscard]] std::pair<dnnl::primitive, std::vector<TrialArgument>> implementation(
      std::size_t number) const;

  [[nodiscard]] const std::string& kind() const { return kind_; }  // "matmul bf16 bf16 -> f32"
  [[nodiscard]] const std::string& post_ops_text() const { return post_ops_text_; }

 private:
  class Maker;

  const dnnl::engine& engine_;
  std::string kind_;
  std::string post_ops_text_;
  dnnl::primitive_attr attributes_;
  std::function<dnnl::primitive_desc_base(const PrimitiveSettings&)> describe_;
  std::vector<int> arguments_;                        // DNNL_ARG_*, without those of post-ops
  std::vector<std::pair<int, Descriptor>> operands_;  // of post-ops
};

}  // namespace ephost_dnnl::test
