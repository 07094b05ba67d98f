// Scales and zero points of tensors of int8 and uint8, as inputs of a node: one of each for the
// whole tensor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ephost/sdk/operators.hpp>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/kernels/quantized/quantization.h"

namespace ephost_cpu {

inline constexpr uint64_t kBytes = kTypeSet<EPH_ELEMENT_INT8, EPH_ELEMENT_UINT8>;
inline constexpr uint64_t kOnlyFloat = kTypeSet<EPH_ELEMENT_FLOAT>;

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

// Quantizes to int8 or uint8, as quantize does.
void quantize_bytes(int32_t element_type, const float* x, QuantizedParameters to, void* y,
                    int64_t count);

// During inference: throws unless scale and zero point may have one element each.
void check_parameters(const eph::Inference& node, uint32_t scale, uint32_t zero_point);

}  // namespace ephost_cpu
