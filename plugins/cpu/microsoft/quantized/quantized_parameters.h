// Scales and zero points of tensors of int8 and uint8, as inputs of a node: one of each for the
// whole tensor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ephost/sdk/operators.hpp>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/quantized/quantization.h"

namespace ephost_cpu {

// The inputs of an operator from X to Y: X, scale and zero point of X, and those of Y. Zero points
// may be omitted.
inline constexpr Inputs kQuantizedUnary = {.required = 2, .same_type = 0b10101};
inline constexpr auto& kQuantizedUnaryTypes =
    kInputTypes<kBytes, kOnlyFloat, kBytes, kOnlyFloat, kBytes>;

struct QuantizedParameters {
  float scale;
  int32_t zero_point;  // 0 if it is omitted
};

// Throws unless each of the inputs has one element. The zero point is of int8 or uint8.
[[nodiscard]] QuantizedParameters read_parameters(const eph::Run& run, uint32_t scale,
                                                  uint32_t zero_point);

// What each byte stands for, as an element of the type: its distance from the zero point, times the
// factor.
using ByteTable = std::array<float, 256>;
[[nodiscard]] ByteTable byte_table(int32_t element_type, int32_t zero_point, float factor);

// y[i] is what x[i] stands for.
void look_up(const ByteTable& table, const void* x, float* y, int64_t count);

// What each byte becomes.
using ByteMap = std::array<uint8_t, 256>;

// Quantizes to int8 or uint8, as quantize does.
void quantize_bytes(int32_t element_type, const float* x, QuantizedParameters to, void* y,
                    int64_t count);

// During inference: throws unless scale and zero point may have one element each.
void check_parameters(const eph::Inference& node, uint32_t scale, uint32_t zero_point);

}  // namespace ephost_cpu
