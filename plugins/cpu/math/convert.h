// Conversion between element types with saturation instead of undefined behaviour: floating-point
// numbers are truncated towards zero (rounded to even for integers of 4 and 2 bits, which may also
// wrap around) and clamped to the integer's range, NaN becomes 0; integers wrap around; to bool
// means "not zero".
#pragma once

#include <ephost/plugin_abi.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "plugins/cpu/math/short_float.h"

namespace ephost_cpu {

// A floating-point number as an integer: truncated, clamped to the range, 0 for NaN.
template <class To, class From>
[[nodiscard]] inline To saturate(From value) {
  static_assert(std::is_floating_point_v<From> && std::is_integral_v<To>);
  // Exact bounds: 2^digits is a floating-point number, the largest integer need not be.
  const From bound = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  if (!(value < bound)) return std::isnan(value) ? To{0} : std::numeric_limits<To>::max();
  if (std::is_signed_v<To> ? value < -bound : value <= -1) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

// Converts `count` elements between any two of the numeric types, bool, float16, bfloat16, float8
// and the packed types. Throws if a type is not one of these. The arrays do not overlap, or start
// at the same address and have elements of the same size. `narrowing` applies to types of 8 bits
// and less.
void convert(const void* from, int32_t from_type, void* to, int32_t to_type, int64_t count,
             Narrowing narrowing = {});

// Unpacks elements of a packed type to one byte each, with int4 and int2 sign-extended, and packs
// them again. Packing keeps the lowest bits of each byte, and pads the last one with zeros.
void unpack_elements(int32_t element_type, const uint8_t* packed, uint8_t* bytes, int64_t count);
void pack_elements(int32_t element_type, const uint8_t* bytes, uint8_t* packed, int64_t count);

// A byte full of a packed element, which is in its lowest bits.
[[nodiscard]] uint8_t repeat_element(int32_t element_type, uint8_t byte);

[[nodiscard]] float half_to_float(uint16_t bits);
// Rounds to nearest, ties to even; numbers that are too large become infinite.
[[nodiscard]] uint16_t float_to_half(float value);

}  // namespace ephost_cpu
