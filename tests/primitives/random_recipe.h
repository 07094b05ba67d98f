// random_recipe.h: random recipes of the dnnl provider around one operation: of each kind and each
// type that the provider asks the library for, on extents that are not multiples of what vectors
// hold, with random post-ops, in row-major order or in the layout that a convolution leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/dnnl/lowering/recipe_builder.h"

namespace ephost_dnnl::test {

struct RandomRecipe {
  LoweredPartition partition;
  uint32_t tested = 0;                                        // the operation that it is about
  std::string kind;                                           // "Convolution u8 s8 -> s8"
  std::vector<std::unique_ptr<std::vector<std::byte>>> data;  // of the constants
};

// The same seed makes the same recipe, which passes check_recipe.
[[nodiscard]] RandomRecipe make_random_recipe(uint64_t seed);

}  // namespace ephost_dnnl::test
