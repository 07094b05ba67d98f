// Index tensors, as Gather, Scatter and related operators take them.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>

namespace ephost_cpu {

// The `count` indices as int64: the tensor itself, or a converted copy in scratch memory.
[[nodiscard]] const int64_t* read_indices(eph::Run& run, const eph_value& indices, int64_t count);

// The index counted from the front; negative ones count from the end. Throws if it is out of range.
[[nodiscard]] int64_t checked_index(int64_t index, int64_t extent);

}  // namespace ephost_cpu
