// element_moves.h: elements put from the places of one layout to those of another one, without the
// library. oneDNN 3.7.2 puts some elements into wrong places where it reorders to a layout of
// weights with padding (seen on AVX2 and AVX-512, for f32, bf16 and s8).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plugins/dnnl/library/descriptor.h"

namespace ephost_dnnl {

class ElementMoves {
 public:
  // Nothing unless both layouts have blocks, or none, of elements of one type.
  [[nodiscard]] static std::optional<ElementMoves> plan(const Descriptor& from,
                                                        const Descriptor& to);

  // Leaves what `to` has beside the elements as it is.
  void run(const void* from, void* to) const;

  // How many elements of `to` are others than those of `from`, and than their halves, which is what
  // a layout of weights for processors without VNNI holds of s8.
  struct Difference {
    int64_t from_whole = 0;
    int64_t from_half = 0;
  };
  [[nodiscard]] Difference compare(const void* from, const void* to) const;

 private:
  [[nodiscard]] Dims dims() const;
  template <class T, class Visit>
  void visit(const void* from, void* to, const Visit& visit_pair) const;

  ElementType type_ = ElementType::kF32;
  std::vector<Dims> from_, to_;  // element_offsets
};

// Whether the library's reorder puts all elements where they belong, tried on a tensor of numbers.
// Layouts without padding count as right: no such defect is known. Throws dnnl::error.
[[nodiscard]] bool reorders_rightly(const dnnl::engine& engine, const Descriptor& from,
                                    const Descriptor& to);

}  // namespace ephost_dnnl
