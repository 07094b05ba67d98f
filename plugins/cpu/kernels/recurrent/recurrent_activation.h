// The activation functions of RNN, GRU and LSTM, chosen by name in a node's attributes.
#pragma once

#include <cstdint>
#include <ephost/sdk/graph_view.hpp>
#include <string_view>
#include <vector>

namespace ephost_cpu {

enum class RecurrentActivationKind {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus
};

struct RecurrentActivation {
  RecurrentActivationKind kind;
  float alpha, beta;
};

// The activations of a node: as many for each direction as there are defaults. Throws if a name is
// unknown or their number is wrong.
[[nodiscard]] std::vector<RecurrentActivation> read_activations(
    const eph::NodeView& node, std::size_t directions,
    const std::vector<std::string_view>& defaults);

// x[i] = f(x[i]).
void activate(const RecurrentActivation& f, float* x, int64_t count);
void activate(const RecurrentActivation& f, double* x, int64_t count);

}  // namespace ephost_cpu
