// Conversion between element types with saturation instead of undefined behaviour: floating-point
// numbers are truncated towards zero and clamped to the integer's range, NaN becomes 0; integers
// wrap around; to bool means "not zero".
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>

namespace cpu {

// Converts `count` elements between any two types out of numbers, bool, float16 and bfloat16.
// Throws where a type isn't one of these. The arrays do not overlap, or start at the same address
// and have elements of the same size.
void convert(const void* from, int32_t from_type, void* to, int32_t to_type, int64_t count);

[[nodiscard]] float half_to_float(uint16_t bits);
// Rounds to nearest, ties to even; too large a number becomes infinite.
[[nodiscard]] uint16_t float_to_half(float value);

}  // namespace cpu
