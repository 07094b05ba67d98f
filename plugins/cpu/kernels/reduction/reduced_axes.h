// The dimensions of a tensor split into those that stay and those that a reduction goes over.
#pragma once

#include <array>
#include <cstdint>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

// Neighbours of one kind are joined where that is possible. Strides are those of the dense tensor.
struct ReducedAxes {
  ReducedAxes(const Dims& shape, const std::array<bool, kMaxRank>& is_reduced);

  Dims kept, kept_strides;
  Dims reduced, reduced_strides;
  int64_t results = 1;  // product of the kept extents
  int64_t terms = 1;    // product of the reduced ones
};

// Removes the last dimension if its stride is 1, and returns its extent; else returns 1.
int64_t take_unit_dimension(Dims& extents, Dims& strides);

}  // namespace ephost_cpu
