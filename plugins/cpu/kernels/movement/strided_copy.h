// A copy of elements between two tensors with arbitrary strides: the common part of Slice, Concat,
// Split, Transpose, Expand, Tile, Pad and DepthToSpace. Works on all element types.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

// All numbers are in elements. `from_strides` and `to_strides` have as many entries as `extents`; a
// stride of 0 repeats, a negative one goes backwards.
struct CopyPlan {
  Dims extents;
  Dims from_strides;
  Dims to_strides;
  int64_t from_offset = 0;
  int64_t to_offset = 0;
};

// Whether the plan reads adjacent elements in order and writes them likewise.
[[nodiscard]] bool is_contiguous(CopyPlan plan);

// Copies from `from` to output `output` of the run, which is allocated. Both have the same type and
// do not overlap, unless a contiguous plan finds the elements where they belong: then it copies
// nothing. Every position is inside both tensors and no position of the output is written twice.
void strided_copy(CopyPlan plan, const eph_value& from, eph::Run& run, uint32_t output);

}  // namespace ephost_cpu
