// Padding with one value, and cropping: what Pad and CenterCropPad share.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

// Makes output 0 a tensor of shape `out` with the first input moved by `before` (negative to crop)
// in each dimension, and the element at `value` around it. `value` is of the input's type, an
// eph_string for strings; null stands for zero, or an empty string.
void pad_with(eph::Run& run, const Dims& before, const Dims& out, const void* value);

}  // namespace ephost_cpu
