// Conversion between element types with saturation instead of undefined behaviour: floating-point
// numbers are truncated towards zero (rounded to even for types of 4 bits) and clamped to the
// integer's range, NaN becomes 0; integers wrap around; to bool means "not zero".
#pragma once

#include <ephost/plugin_abi.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

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
// and the types of 4 bits, which are packed. Throws if a type is not one of these. The arrays do
// not overlap, or start at the same address and have elements of the same size. `saturate` applies
// to float8, see encode_short_floats.
void convert(const void* from, int32_t from_type, void* to, int32_t to_type, int64_t count,
             bool saturate = true);

// Unpacks elements of 4 bits to one byte each, with int4 sign-extended, and packs them again.
// Packing keeps the lower half of each byte, and pads the last byte with zero if `count` is odd.
void unpack_nibbles(const uint8_t* packed, bool is_signed, uint8_t* bytes, int64_t count);
void pack_nibbles(const uint8_t* bytes, uint8_t* packed, int64_t count);

[[nodiscard]] float half_to_float(uint16_t bits);
// Rounds to nearest, ties to even; numbers that are too large become infinite.
[[nodiscard]] uint16_t float_to_half(float value);

}  // namespace ephost_cpu
