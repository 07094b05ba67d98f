#include "plugins/cpu/kernels/movement/indices.h"

#include <string>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {

const int64_t* read_indices(eph::Run& run, const eph_value& indices, int64_t count) {
  if (indices.element_type == EPH_ELEMENT_INT64) return data<const int64_t>(indices);
  void* copy = run.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(int64_t))));
  convert(indices.data, indices.element_type, copy, EPH_ELEMENT_INT64, count);
  return static_cast<const int64_t*>(copy);
}

int64_t checked_index(int64_t index, int64_t extent) {
  if (index < -extent || index >= extent) {
    fail("index " + std::to_string(index) + " is out of range for an extent of " +
         std::to_string(extent));
  }
  return index < 0 ? index + extent : index;
}

}  // namespace ephost_cpu
