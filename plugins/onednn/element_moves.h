// element_moves.h: elements put from the places of one layout of oneDNN to those of another one,
// without the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plugins/onednn/layout_blocks.h"

namespace ephost_onednn {

class ElementMoves {
 public:
  // Nothing unless both layouts have the same dimensions, and blocks, or none, of elements of one
  // type.
  [[nodiscard]] static std::optional<ElementMoves> plan(const dnnl::memory::desc& from,
                                                        const dnnl::memory::desc& to);

  // Leaves what `to` has beside the elements as it is.
  void run(const void* from, void* to) const;
  // How many elements of `to` are others than those of `from`, and than their halves, which is what
  // a layout of weights for processors without VNNI may hold of s8.
  struct Difference {
    int64_t from_whole = 0;
    int64_t from_half = 0;
  };
  [[nodiscard]] Difference compare(const void* from, const void* to) const;

  // Sums of elements of s8 in `from`, one for each index in the dimensions of the mask, in
  // row-major order, zero where the target has padding.
  [[nodiscard]] std::vector<int32_t> sums(const void* from, int mask) const;

 private:
  using Offsets = std::vector<int64_t>;  // what each index of a dimension adds, in elements

  std::size_t element_size_ = 0;
  std::vector<Offsets> from_, to_;  // by dimension
  dnnl::memory::dims padded_;       // extents of the target
};

}  // namespace ephost_onednn
