#include "plugins/cpu/microsoft/activation.h"

#include <utility>

#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/math/vector_math.h"

namespace ephost_cpu {
namespace {

constexpr std::pair<std::string_view, ActivationKind> kNames[] = {
    {"Relu", ActivationKind::kRelu},           {"Clip", ActivationKind::kClip},
    {"LeakyRelu", ActivationKind::kLeakyRelu}, {"Sigmoid", ActivationKind::kSigmoid},
    {"Tanh", ActivationKind::kTanh},           {"HardSigmoid", ActivationKind::kHardSigmoid}};

// NaN stays NaN in all of them.
struct LeakyReluOp {
  static constexpr double kCost = 0.2;
  float alpha;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x < T{0} ? static_cast<T>(alpha) * x : x;
  }
};

struct ReluOp {
  static constexpr double kCost = 0.2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x < T{0} ? T{0} : x;
  }
};

struct ClipOp {
  static constexpr double kCost = 0.2;
  float low, high;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    const T raised = x < static_cast<T>(low) ? static_cast<T>(low) : x;
    return raised > static_cast<T>(high) ? static_cast<T>(high) : raised;
  }
};

struct HardSigmoidOp {
  static constexpr double kCost = 0.2;
  float alpha, beta;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    const T line = static_cast<T>(alpha) * x + static_cast<T>(beta);
    const T raised = line < T{0} ? T{0} : line;
    return raised > T{1} ? T{1} : raised;
  }
};

struct SigmoidOp {
  static constexpr double kCost = 1;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return fast_sigmoid(x);
  }
};

struct TanhOp {
  static constexpr double kCost = 1;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return fast_tanh(x);
  }
};

}  // namespace

void Activation::apply(int32_t element_type, void* elements, int64_t count) const {
  if (count == 0) return;
  dispatch<float, double>(element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    switch (kind) {
      case ActivationKind::kNone:
        return;
      case ActivationKind::kRelu:
        return map_elements<T, T>(ReluOp(), elements, elements, count);
      case ActivationKind::kClip:
        return map_elements<T, T>(ClipOp{first, second}, elements, elements, count);
      case ActivationKind::kLeakyRelu:
        return map_elements<T, T>(LeakyReluOp{first}, elements, elements, count);
      case ActivationKind::kSigmoid:
        return map_elements<T, T>(SigmoidOp(), elements, elements, count);
      case ActivationKind::kTanh:
        return map_elements<T, T>(TanhOp(), elements, elements, count);
      case ActivationKind::kHardSigmoid:
        return map_elements<T, T>(HardSigmoidOp{first, second}, elements, elements, count);
    }
  });
}

bool parse_activation(std::string_view name, ActivationKind& kind, std::string& why_not) {
  kind = ActivationKind::kNone;
  if (name.empty()) return true;
  std::string known;
  for (const auto& [candidate, value] : kNames) {
    if (candidate == name) {
      kind = value;
      return true;
    }
    known += (known.empty() ? "" : ", ") + std::string(candidate);
  }
  why_not = "activation '" + std::string(name) + "' is not supported, but " + known;
  return false;
}

std::size_t parameter_count(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::kClip:
    case ActivationKind::kHardSigmoid:
      return 2;
    case ActivationKind::kLeakyRelu:
      return 1;
    default:
      return 0;
  }
}

}  // namespace ephost_cpu
