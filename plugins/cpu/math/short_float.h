// The floating-point types of 8 and 4 bits: conversions from and to float.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>

namespace ephost_cpu {

// float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float4e2m1.
[[nodiscard]] bool is_short_float(int32_t element_type);

// `codes` has one element in each byte, even for float4e2m1.
void decode_short_floats(int32_t element_type, const uint8_t* codes, float* values, int64_t count);

// Rounds to nearest, ties to even. Numbers that are too large become the largest one with
// `saturate`, and otherwise infinity, or NaN where the type has no infinity. float4e2m1 always
// saturates; its NaN is 0.
void encode_short_floats(int32_t element_type, const float* values, uint8_t* codes, int64_t count,
                         bool saturate);
void encode_short_floats(int32_t element_type, const double* values, uint8_t* codes, int64_t count,
                         bool saturate);

}  // namespace ephost_cpu
