// Convolutions of bytes through oneDNN, which takes channels last. The input is padded with its
// zero point while its channels are moved, so that every window is whole: the zero points then
// change each sum by a number of its channel, and by the sum of the window, which an output channel
// with weights of one gives.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>
#include <memory>

#include "plugins/cpu/kernels/quantized/quantized_operand.h"
#include "plugins/cpu/kernels/windows/convolution.h"

namespace ephost_cpu {

// How sums become int8 or uint8: y = saturate(round((sum + bias) * factor) + zero point).
struct Requantization {
  const float* factors;  // one for each output channel
  const int32_t* bias;   // one for each output channel, or null
  float zero_point;
};

class ByteConvolutions {
 public:
  // `constant` are the weights if they and their zero points are constant; the elements of the
  // weights are borrowed.
  ByteConvolutions(std::shared_ptr<const OneDnn> onednn,
                   const std::optional<QuantizedOperand>& constant);
  ~ByteConvolutions();

  [[nodiscard]] std::unique_ptr<eph::State> create_state() const;

  // Makes the plan and packs constant weights now; false if `convolve` will not do it.
  bool prepare(const ConvolutionShape& shape);

  // Computes y in [N, M, ...]: sums as int32 without requantisation, else int8 or uint8, as
  // `element_type` says. No extent may be 0; X has one zero point, the weights one, or one for each
  // output channel. False, without a result, if oneDNN has no fast primitive for it.
  bool convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                const QuantizedOperand& x, const QuantizedOperand& weights,
                const Requantization* requantization, int32_t element_type, void* y);

 private:
  class Plans;
  std::unique_ptr<Plans> plans_;
};

}  // namespace ephost_cpu
