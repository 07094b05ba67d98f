// Functions of single elements, of one tensor or of several that broadcast.
#include <algorithm>
#include <cmath>
#include <functional>

#include "host/conformance/random/evaluate/evaluate.h"

namespace ephost::conformance {
namespace {

using Function = std::function<Bounded(Bounded)>;

Outputs map(const Invocation& node, const Function& f) {
  BoundedTensor y = node.input(0);
  for (Bounded& x : y.numbers) x = f(x);
  return {std::move(y)};
}

double units(double count, double of) { return count * kRoundoff * std::fabs(of); }

// ---- Of one tensor ------------------------------------------------------------------------------

Bounded relu(Bounded x) { return maximum(x, {0, 0}); }

Bounded leaky_relu(Bounded x, double alpha) {
  const auto f = [&](double v) { return v < 0 ? alpha * v : v; };
  return lipschitz(x, f, std::fmax(1, std::fabs(alpha)), units(4, x.value));
}

Bounded exponential(Bounded x) {
  const auto f = [](double v) { return std::exp(v); };
  return monotonic(x, f, units(32 + std::fabs(x.value), f(x.value)));
}

Bounded logarithm(Bounded x) {
  const auto f = [](double v) { return std::log(v); };
  if (x.may_be_flushed() || (x.error > 0 && x.low() <= 0)) return unspecified();
  return monotonic(x, f, x.value > 0 ? units(64, 1 + std::fabs(f(x.value))) : 0);
}

Bounded square_root(Bounded x) {
  const auto f = [](double v) { return std::sqrt(v); };
  if (x.value == 0 && x.error == 0) return x;
  if (x.may_be_flushed() || (x.error > 0 && x.low() < 0)) return unspecified();
  return monotonic(x, f, units(8, f(std::fmax(x.value, 0))));
}

Bounded sigmoid(Bounded x) {
  const auto f = [](double v) { return 1 / (1 + std::exp(-v)); };
  return monotonic(x, f, units(32 + std::fabs(x.value), f(x.value)));
}

Bounded hyperbolic_tangent(Bounded x) {
  const auto f = [](double v) { return std::tanh(v); };
  return monotonic(x, f, units(64, f(x.value)));
}

Bounded elu(Bounded x, double alpha) {
  const auto f = [&](double v) { return v < 0 ? alpha * std::expm1(v) : v; };
  return lipschitz(x, f, std::fmax(1, std::fabs(alpha) * std::exp(std::min(0.0, x.high()))),
                   units(32, std::fmax(std::fabs(alpha), std::fabs(x.value))));
}

Bounded softplus(Bounded x) {
  const auto f = [](double v) { return std::log1p(std::exp(-std::fabs(v))) + std::fmax(v, 0); };
  return lipschitz(x, f, 1, units(32, 1 + std::fabs(x.value)));
}

Bounded error_function(Bounded x) {
  const auto f = [](double v) { return std::erf(v); };
  return lipschitz(x, f, 1.13, units(32, 1));
}

Bounded clip(Bounded x, Bounded low, Bounded high) { return minimum(maximum(x, low), high); }

Bounded hard_sigmoid(Bounded x, double alpha, double beta) {
  return clip(x * Bounded{alpha, 0} + Bounded{beta, 0}, {0, 0}, {1, 0});
}

Outputs evaluate_clip(const Invocation& node) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const bool has_inputs = node.opset() >= 11;
  const auto bound = [&](const char* name, std::size_t i, double fallback) {
    if (!has_inputs) return Bounded{node.real(name, fallback), 0};
    if (!node.has_input(i)) return Bounded{fallback, 0};
    require(node.input(i).numbers.size() == 1, "a bound that is not one number");
    return node.input(i).numbers[0];
  };
  const Bounded low = bound("min", 1, -kLargest), high = bound("max", 2, kLargest);
  require(low.value <= high.value, "bounds in the wrong order");
  return map(node, [&](Bounded x) { return clip(x, low, high); });
}

// ---- Of several ---------------------------------------------------------------------------------

using Combination = Bounded (*)(Bounded, Bounded);

BoundedTensor combine(const BoundedTensor& a, const BoundedTensor& b, Combination f) {
  require(a.integers.empty() && b.integers.empty(), "arithmetic on integers");
  BoundedTensor y = zeros(broadcast(a.dims, b.dims));
  const auto of_a = broadcast_positions(a.dims, y.dims);
  const auto of_b = broadcast_positions(b.dims, y.dims);
  for (std::size_t i = 0; i < y.numbers.size(); ++i) {
    y.numbers[i] = f(a.numbers[of_a[i]], b.numbers[of_b[i]]);
  }
  return y;
}

template <Combination f>
Outputs fold(const Invocation& node) {
  BoundedTensor y = node.input(0);
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    const std::string& type = node.node().op_type();
    const bool broadcasts =
        node.opset() >= 8 || (type != "Sum" && type != "Max" && type != "Min" && type != "Mean");
    require(broadcasts || node.input(i).dims == y.dims, "no broadcasting in this version");
    y = combine(y, node.input(i), f);
  }
  return {std::move(y)};
}

Bounded plus(Bounded a, Bounded b) { return a + b; }
Bounded minus(Bounded a, Bounded b) { return a - b; }
Bounded times(Bounded a, Bounded b) { return a * b; }
Bounded over(Bounded a, Bounded b) { return a / b; }
// Exponents are constants here.
Bounded to_the_power(Bounded a, Bounded b) { return power(a, b.value); }
Bounded prelu(Bounded x, Bounded slope) {
  if (x.low() >= 0) return x;
  if (x.high() < 0) return x * slope;
  return {x.value < 0 ? x.value * slope.value : x.value,
          x.error * std::fmax(1, std::fabs(slope.value) + slope.error) + units(8, x.error)};
}

Outputs evaluate_mean(const Invocation& node) {
  BoundedTensor y = fold<plus>(node)[0];
  const Bounded count{static_cast<double>(node.input_count()), 0};
  for (Bounded& x : y.numbers) x = x / count;
  return {std::move(y)};
}

Outputs evaluate_power(const Invocation& node) {
  for (const Bounded& exponent : node.input(1).numbers) {
    require(exponent.error == 0, "an exponent that is computed");
  }
  return fold<to_the_power>(node);
}

Outputs evaluate_prelu(const Invocation& node) {
  require(broadcast(node.input(0).dims, node.input(1).dims) == node.input(0).dims,
          "a slope that is larger than the input");
  return fold<prelu>(node);
}

template <Bounded (*f)(Bounded)>
Outputs simple(const Invocation& node) {
  return map(node, f);
}

}  // namespace

// To int8, with one scale, where the bound of every number rounds to the same integer.
Outputs evaluate_quantize(const Invocation& node) {
  const BoundedTensor& x = node.input(0);
  const BoundedTensor& scale = node.input(1);
  require(scale.numbers.size() == 1 && node.input(2).integers.size() == 1, "several scales");
  // For implementations that multiply by the inverse of the scale.
  constexpr double kRelativeSlack = 1e-6;
  BoundedTensor made{x.dims, {}, {}};
  for (const Bounded& number : x.numbers) {
    require(std::isfinite(number.value) && number.is_specified(), "a number that is not finite");
    const double steps = number.value / scale.numbers[0].value;
    const double slack = std::fabs(steps) * kRelativeSlack +
                         (number.error / scale.numbers[0].value) + kRelativeSlack;
    const double low = std::nearbyint(steps - slack);
    require(low == std::nearbyint(steps + slack), "an uncertain rounding");
    const double shifted = low + static_cast<double>(node.input(2).integers[0]);
    made.integers.push_back(static_cast<int64_t>(std::clamp(shifted, -128.0, 127.0)));
  }
  return {made};
}

// With one scale, or one for each index of an axis.
Outputs evaluate_dequantize(const Invocation& node) {
  const BoundedTensor& x = node.input(0);
  const BoundedTensor& scale = node.input(1);
  require(!node.has_input(2) || node.input(2).integers.size() == scale.numbers.size(),
          "zero points that do not fit the scales");
  require(std::ssize(x.integers) == element_count(x.dims), "floats in place of integers");
  const auto scales = static_cast<int64_t>(scale.numbers.size());
  int64_t length = element_count(x.dims);
  if (scales != 1) {
    const std::size_t axis = normalized_axis(node.integer("axis", 1), x.dims.size());
    require(scale.dims.size() == 1 && x.dims[axis] == scales, "scales that do not fit the axis");
    length = strides_of(x.dims)[axis];
  }
  BoundedTensor made = zeros(x.dims);
  for (std::size_t i = 0; i < made.numbers.size(); ++i) {
    const auto at = static_cast<std::size_t>(static_cast<int64_t>(i) / length % scales);
    const int64_t zero_point = node.has_input(2) ? node.input(2).integers[at] : 0;
    made.numbers[i] =
        Bounded{static_cast<double>(x.integers[i] - zero_point), 0} * scale.numbers[at];
  }
  return {made};
}

const Evaluations& elementwise_evaluations() {
  static const Evaluations kEvaluations = {
      {"Abs", &simple<absolute>},
      {"Add", &fold<plus>},
      {"Cast", [](const Invocation& node) { return Outputs{node.input(0)}; }},
      {"Clip", &evaluate_clip},
      {"Constant",
       [](const Invocation& node) { return Outputs{to_bounded(node.node().attribute(0).t())}; }},
      {"DequantizeLinear", &evaluate_dequantize},
      {"Div", &fold<over>},
      {"Dropout", [](const Invocation& node) { return Outputs{node.input(0)}; }},
      {"Elu",
       [](const Invocation& node) {
         return map(node, [&](Bounded x) { return elu(x, node.real("alpha", 1)); });
       }},
      {"Erf", &simple<error_function>},
      {"Exp", &simple<exponential>},
      {"HardSigmoid",
       [](const Invocation& node) {
         return map(node, [&](Bounded x) {
           return hard_sigmoid(x, node.real("alpha", 0.2), node.real("beta", 0.5));
         });
       }},
      {"HardSwish",
       [](const Invocation& node) {
         return map(node, [](Bounded x) { return x * hard_sigmoid(x, 1.0 / 6, 0.5); });
       }},
      {"Identity", [](const Invocation& node) { return Outputs{node.input(0)}; }},
      {"LeakyRelu",
       [](const Invocation& node) {
         return map(node, [&](Bounded x) { return leaky_relu(x, node.real("alpha", 0.01)); });
       }},
      {"Log", &simple<logarithm>},
      {"Max", &fold<maximum>},
      {"Mean", &evaluate_mean},
      {"Min", &fold<minimum>},
      {"Mul", &fold<times>},
      {"Neg", [](const Invocation& node) { return map(node, [](Bounded x) { return -x; }); }},
      {"PRelu", &evaluate_prelu},
      {"Pow", &evaluate_power},
      {"Reciprocal",
       [](const Invocation& node) {
         return map(node, [](Bounded x) { return Bounded{1, 0} / x; });
       }},
      {"QuantizeLinear", &evaluate_quantize},
      {"Relu", &simple<relu>},
      {"Sigmoid", &simple<sigmoid>},
      {"Softplus", &simple<softplus>},
      {"Sqrt", &simple<square_root>},
      {"Sub", &fold<minus>},
      {"Sum", &fold<plus>},
      {"Tanh", &simple<hyperbolic_tangent>},
  };
  return kEvaluations;
}

}  // namespace ephost::conformance
