// From the sums that oneDNN's convolution of bytes gives to the result: the parts that the zero
// points add are taken away, the channels are moved before the pixels, and what is asked for in
// bytes is requantised.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>

#include "plugins/cpu/kernels/quantized/quantized_operand.h"

namespace ephost_cpu {

struct Requantization;

// The output channels of oneDNN's convolution: with sums of windows, each group has one more, the
// last.
struct ByteChannels {
  int64_t groups, of_group;  // of the result
  bool with_sums;

  [[nodiscard]] int64_t stored_of_group() const { return of_group + (with_sums ? 1 : 0); }
  [[nodiscard]] int64_t stored() const { return groups * stored_of_group(); }
};

// By channel last.
struct ByteSums {
  // Elements behind the last that may be read, and must not be random.
  static constexpr int64_t kSpare = 16;

  ByteChannels channels;
  int64_t images, plane;  // pixels of an image
  int32_t* values;        // [images, plane, stored channels]
};

// The zero point of an output channel's weights as int8.
[[nodiscard]] int32_t zero_of_weights(const QuantizedOperand& weights, int64_t channel);
// The sum of the weights of each output channel as int8, less their zero point for each.
void sum_weights(const QuantizedOperand& weights, int64_t outputs, int64_t length, uint32_t* sums);

// Writes the result to `y`: int32 without a requantization, else of `element_type`. `weight_sums`
// are what sum_weights gives, or null. The sums are changed.
void store_output(eph::Run& run, const ByteSums& sums, const QuantizedOperand& x,
                  const QuantizedOperand& weights, const uint32_t* weight_sums,
                  const Requantization* requantization, int32_t element_type, void* y);

}  // namespace ephost_cpu
