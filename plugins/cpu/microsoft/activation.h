// Activations that are fused to another operator, by the names of ONNX's operators.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ephost_cpu {

enum class ActivationKind { kNone, kRelu, kClip, kLeakyRelu, kSigmoid, kTanh, kHardSigmoid };

struct Activation {
  ActivationKind kind = ActivationKind::kNone;
  // Clip: lower and upper bound; LeakyRelu: alpha; HardSigmoid: alpha and beta.
  float first = 0, second = 0;

  // To elements of float or double, in place.
  void apply(int32_t element_type, void* elements, int64_t count) const;
};

// kNone for an empty name. Stores why not and returns false if it is not supported.
[[nodiscard]] bool parse_activation(std::string_view name, ActivationKind& kind,
                                    std::string& why_not);
// How many of `first` and `second` the activation has.
[[nodiscard]] std::size_t parameter_count(ActivationKind kind);

}  // namespace ephost_cpu
