// layout_blocks.h: the fields of a memory descriptor, in one form for all versions of oneDNN.
#pragma once

#include <cstdint>
#include <optional>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#include <dnnl.hpp>
#pragma GCC diagnostic pop

namespace ephost_onednn {

// Sums of weights of s8 that the library stores behind the elements: 32-bit integers, one for each
// output channel, first for sources of s8 and then for zero points of the source.
struct LayoutSums {
  bool of_signed_source = false;
  bool of_zero_points = false;
  int signed_source_mask = 0, zero_points_mask = 0;  // bit d: there are sums for each index of d
  bool has_others = false;                           // of unknown meaning
  bool are_of_halves = false;                        // as the elements are then

  [[nodiscard]] bool are_any() const { return of_signed_source || of_zero_points || has_others; }
};

struct LayoutBlocks {
  bool is_blocked = false;  // otherwise the fields after the dimensions are empty
  dnnl::memory::dims dims, padded_dims, strides;
  dnnl::memory::dims sizes, of_dims;  // of the inner blocks, from the outermost on
  int64_t offset = 0;                 // of the first element
  std::optional<LayoutSums> sums;     // version 3 does not tell

  [[nodiscard]] bool has_padding() const { return dims != padded_dims; }
};

[[nodiscard]] LayoutBlocks layout_blocks(const dnnl::memory::desc& layout);
[[nodiscard]] dnnl::memory::data_type layout_type(const dnnl::memory::desc& layout);

}  // namespace ephost_onednn
