#include "plugins/cpu/kernels/reduction/reduced_axes.h"

#include "plugins/cpu/core/odometer.h"

namespace ephost_cpu {

ReducedAxes::ReducedAxes(const Dims& shape, const std::array<bool, kMaxRank>& is_reduced) {
  const Dims strides = dense_strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (is_reduced[d] ? reduced : kept).push_back(shape[d]);
    (is_reduced[d] ? reduced_strides : kept_strides).push_back(strides[d]);
  }
  results = element_count(kept);
  terms = element_count(reduced);
  if (results == 0 || terms == 0) return;
  std::array<Dims, 1> merged = {kept_strides};
  merge_dimensions(kept, merged);
  kept_strides = merged[0];
  merged = {reduced_strides};
  merge_dimensions(reduced, merged);
  reduced_strides = merged[0];
}

int64_t take_unit_dimension(Dims& extents, Dims& strides) {
  if (extents.empty() || strides.back() != 1) return 1;
  const int64_t extent = extents.back();
  extents.pop_back();
  strides.pop_back();
  return extent;
}

}  // namespace ephost_cpu
