// The floating-point types of 8 and 4 bits: conversions from and to float.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>

namespace ephost_cpu {

// float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float4e2m1, float8e8m0.
[[nodiscard]] bool is_short_float(int32_t element_type);

// `codes` has one element in each byte, even for float4e2m1.
void decode_short_floats(int32_t element_type, const uint8_t* codes, float* values, int64_t count);

// Between two powers of two: the greater one, the smaller one, or the nearer one, which is the
// greater one if they are equally near.
enum class RoundMode : uint8_t { kUp, kDown, kNearest };

// What the texts of operators leave to attributes and versions about types of 8 bits and less.
struct Narrowing {
  bool saturate = true;             // for types of 8 bits
  RoundMode mode = RoundMode::kUp;  // for float8e8m0 only
  // Version 24 of Cast, for types of 4 and 2 bits, whose numbers out of range its text leaves open:
  // ONNX's data and notes have floating-point numbers keep the lowest bits of the rounded number in
  // an integer type, instead of being clamped to its range, and NaN become -0 in float4e2m1,
  // instead of 6.
  bool wraps = false;
};

// Rounds to nearest, ties to even, except for float8e8m0. Numbers that are too large, and infinity,
// become the largest one with `saturate`, and otherwise infinity, or NaN where the type has no
// infinity. This is the table in ONNX's text on Cast 25; older texts contradict their data about
// infinity and the types "uz". float4e2m1 always saturates.
//
// float8e8m0 has the powers of two from 2^-127 to 2^127, and NaN. As the table in ONNX's text on
// Cast says since version 24, zero and what is less than 2^-127 become 2^-127 with `saturate`,
// infinity and what is greater than 2^127 become 2^127, and all of these become NaN without it. The
// text leaves negative numbers undefined; here they are less than 2^-127, as in ONNX Runtime.
void encode_short_floats(int32_t element_type, const float* values, uint8_t* codes, int64_t count,
                         Narrowing narrowing);
void encode_short_floats(int32_t element_type, const double* values, uint8_t* codes, int64_t count,
                         Narrowing narrowing);

}  // namespace ephost_cpu
