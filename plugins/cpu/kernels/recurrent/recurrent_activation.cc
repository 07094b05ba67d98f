#include "plugins/cpu/kernels/recurrent/recurrent_activation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "plugins/cpu/core/dims.h"
#include "plugins/cpu/math/vector_math.h"

namespace ephost_cpu {
namespace {

struct Definition {
  std::string_view name;
  RecurrentActivationKind kind;
  bool has_alpha, has_beta;
  float alpha, beta;
};

constexpr Definition kDefinitions[] = {
    {"Relu", RecurrentActivationKind::kRelu, false, false, 0, 0},
    {"Tanh", RecurrentActivationKind::kTanh, false, false, 0, 0},
    {"Sigmoid", RecurrentActivationKind::kSigmoid, false, false, 0, 0},
    {"Affine", RecurrentActivationKind::kAffine, true, true, 1, 0},
    {"LeakyRelu", RecurrentActivationKind::kLeakyRelu, true, false, 0.01F, 0},
    {"ThresholdedRelu", RecurrentActivationKind::kThresholdedRelu, true, false, 1, 0},
    {"ScaledTanh", RecurrentActivationKind::kScaledTanh, true, true, 1, 1},
    {"HardSigmoid", RecurrentActivationKind::kHardSigmoid, true, true, 0.2F, 0.5F},
    {"Elu", RecurrentActivationKind::kElu, true, false, 1, 0},
    {"Softsign", RecurrentActivationKind::kSoftsign, false, false, 0, 0},
    {"Softplus", RecurrentActivationKind::kSoftplus, false, false, 0, 0},
};

// Exporters differ in the case of the names.
const Definition& find_definition(std::string_view name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const Definition& candidate : kDefinitions) {
    if (std::equal(name.begin(), name.end(), candidate.name.begin(), candidate.name.end(), same)) {
      return candidate;
    }
  }
  fail("activation '" + std::string(name) + "' is unknown");
}

template <class T, class F>
CPU_INLINE void apply_to_each(T* x, int64_t count, F f) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) x[i] = f(x[i]);
}

template <class T>
CPU_INLINE void activate_all(const RecurrentActivation& chosen, T* x, int64_t count) {
  const T alpha = static_cast<T>(chosen.alpha);
  const T beta = static_cast<T>(chosen.beta);
  switch (chosen.kind) {
    case RecurrentActivationKind::kRelu:
      return apply_to_each(x, count, [](T v) { return v < T{0} ? T{0} : v; });
    case RecurrentActivationKind::kTanh:
      return apply_to_each(x, count, [](T v) { return fast_tanh(v); });
    case RecurrentActivationKind::kSigmoid:
      return apply_to_each(x, count, [](T v) { return fast_sigmoid(v); });
    case RecurrentActivationKind::kAffine:
      return apply_to_each(x, count, [=](T v) { return alpha * v + beta; });
    case RecurrentActivationKind::kLeakyRelu:
      return apply_to_each(x, count, [=](T v) { return v < T{0} ? alpha * v : v; });
    case RecurrentActivationKind::kThresholdedRelu:
      return apply_to_each(x, count, [=](T v) { return v < alpha ? T{0} : v; });
    case RecurrentActivationKind::kScaledTanh:
      return apply_to_each(x, count, [=](T v) { return alpha * fast_tanh(beta * v); });
    case RecurrentActivationKind::kHardSigmoid:
      return apply_to_each(x, count, [=](T v) {
        const T y = alpha * v + beta;
        const T low = y < T{0} ? T{0} : y;
        return low > T{1} ? T{1} : low;
      });
    case RecurrentActivationKind::kElu:
      return apply_to_each(x, count,
                           [=](T v) { return v < T{0} ? alpha * (fast_exp(v) - T{1}) : v; });
    case RecurrentActivationKind::kSoftsign:
      return apply_to_each(x, count, [](T v) { return v / (T{1} + (v < T{0} ? -v : v)); });
    case RecurrentActivationKind::kSoftplus:
      return apply_to_each(x, count, [](T v) {
        return (v > T{0} ? v : T{0}) + std::log1p(std::exp(-std::fabs(v)));
      });
  }
}

CPU_SIMD void activate_simd(const RecurrentActivation& f, float* x, int64_t count) {
  activate_all(f, x, count);
}

}  // namespace

std::vector<RecurrentActivation> read_activations(const eph::NodeView& node, std::size_t directions,
                                                  const std::vector<std::string_view>& defaults) {
  std::vector<std::string_view> names;
  for (const eph_string& name : node.get_strings("activations")) names.push_back(eph::view(name));
  const std::size_t count = defaults.size() * directions;
  for (std::size_t d = 0; names.size() < count && node.attribute("activations") == nullptr; ++d) {
    names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != count) {
    fail("attribute activations has " + std::to_string(names.size()) + " names, expected " +
         std::to_string(count));
  }
  const auto alphas = node.get_floats("activation_alpha");
  const auto betas = node.get_floats("activation_beta");
  std::size_t next_alpha = 0;
  std::size_t next_beta = 0;
  std::vector<RecurrentActivation> activations;
  for (const std::string_view name : names) {
    const Definition& found = find_definition(name);
    RecurrentActivation made = {found.kind, found.alpha, found.beta};
    if (found.has_alpha && next_alpha < alphas.size()) made.alpha = alphas.data()[next_alpha++];
    if (found.has_beta && next_beta < betas.size()) made.beta = betas.data()[next_beta++];
    activations.push_back(made);
  }
  return activations;
}

void activate(const RecurrentActivation& f, float* x, int64_t count) { activate_simd(f, x, count); }
void activate(const RecurrentActivation& f, double* x, int64_t count) { activate_all(f, x, count); }

}  // namespace ephost_cpu
