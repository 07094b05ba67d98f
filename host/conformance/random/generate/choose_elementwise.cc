// Functions of one tensor, arithmetic with scalars and with tensors that broadcast.
#include <algorithm>

#include "host/conformance/random/generate/random_graph.h"

namespace ephost::conformance {
namespace {

bool add_function(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {
      "Abs",      "Exp",     "Neg",        "Relu",     "Relu",      "Relu",
      "Sigmoid",  "Sigmoid", "Tanh",       "Identity", "Dropout",   "Erf",
      "Softplus", "Log",     "Reciprocal", "Sqrt",     "HardSwish", "Cast"};
  const auto x = graph.pick();
  const char* function = graph.dice().pick(kFunctions);
  const std::string name = function;
  if (name == "HardSwish" && graph.opset() < 14) return false;
  if (name == "Erf" && graph.opset() < 9) return false;
  Draft draft(function, {*x});
  if (name == "Cast") draft.integer("to", onnx::TensorProto::FLOAT);
  if (name == "Dropout" && graph.opset() < 12 && graph.dice().one_in(2)) draft.real("ratio", 0.3);
  return graph.add(draft, 1, name == "Dropout" && graph.dice().one_in(3) ? 1 : 0).has_value();
}

// Log, Sqrt and Reciprocal of numbers that are large enough.
bool add_partial_function(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {"Log", "Sqrt", "Reciprocal"};
  const auto x = graph.pick();
  const auto positive = graph.add(Draft("Abs", {*x}));
  if (!positive) return false;
  const auto shifted = graph.add(Draft("Add", {*positive, graph.scalar(0.75)}));
  return shifted && graph.add(Draft(graph.dice().pick(kFunctions), {*shifted}));
}

bool add_function_with_slope(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {"LeakyRelu", "LeakyRelu", "Elu"};
  Draft draft(graph.dice().pick(kFunctions), {*graph.pick()});
  static const std::vector<double> kSlopes = {0.01, 0.1, 0.3, 0.5, 1.5, 0};
  if (!graph.dice().one_in(4)) draft.real("alpha", graph.dice().pick(kSlopes));
  return graph.add(draft).has_value();
}

bool add_clip(RandomGraph& graph) {
  const std::string x = *graph.pick();
  const double low = graph.quantile(x, graph.dice().real(0, 0.5));
  const double high = graph.quantile(x, graph.dice().real(0.5, 1));
  const bool has_low = !graph.dice().one_in(5), has_high = !graph.dice().one_in(5);
  Draft draft("Clip", {x});
  const auto bound = [&](double number) { return graph.constant({}, {number, number}); };
  if (graph.opset() < 11) {
    if (has_low) draft.real("min", low);
    if (has_high) draft.real("max", high);
  } else {
    if (has_low || has_high) draft.read(has_low ? bound(low) : "");
    if (has_high) draft.read(bound(high));
  }
  return graph.add(draft).has_value();
}

double random_scalar(Dice& dice) {
  static const std::vector<double> kUsual = {1, -1, 2, 0.5, 3, 6, 1.0 / 6, 0.25, 0};
  return dice.one_in(3) ? dice.pick(kUsual) : dice.real(-3, 3);
}

// Arithmetic with a constant scalar on either side.
bool add_scalar_arithmetic(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {"Add", "Add", "Sub", "Mul",
                                                      "Mul", "Div", "Max", "Min"};
  const std::string x = *graph.pick();
  const std::string function = graph.dice().pick(kFunctions);
  double number = random_scalar(graph.dice());
  if (function == "Max" || function == "Min") {
    if (graph.opset() < 8) return false;
    number = graph.quantile(x, graph.dice().real(0.1, 0.9));
  }
  std::vector<std::string> inputs = {x, graph.scalar(number)};
  if (graph.dice().one_in(4)) std::reverse(inputs.begin(), inputs.end());
  return graph.add(Draft(function.c_str(), inputs)).has_value();
}

bool add_power(RandomGraph& graph) {
  static const std::vector<double> kExponents = {2, 2, 1, 3, 0.5, -1, 1.5, -0.5};
  const std::string x = *graph.pick();
  return graph.add(Draft("Pow", {x, graph.scalar(graph.dice().pick(kExponents))})).has_value();
}

// Dimensions that broadcast with those of a value: fewer, as many or more of them, with each extent
// as it is or 1. Open ones are always 1.
Dims related_dims(RandomGraph& graph, const std::string& value, bool may_grow) {
  Dims dims = graph.dims(value);
  const int64_t kept = graph.dice().roll(1, 6);  // bits: which kind of operand
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool is_channel = i == 1, is_last = i + 1 == dims.size();
    const bool keeps = kept == 1 || (kept == 2 && is_channel) || (kept == 3 && is_last) ||
                       (kept >= 4 && graph.dice().one_in(2));
    if (!keeps || graph.is_open(value, i)) dims[i] = 1;
  }
  if (graph.dice().one_in(2)) {
    while (!dims.empty() && dims[0] == 1 && !graph.dice().one_in(3)) dims.erase(dims.begin());
  }
  if (may_grow && graph.dice().one_in(8) && dims.size() < 5) {
    dims.insert(dims.begin(), graph.dice().roll(1, 2));
  }
  if (may_grow && graph.dice().one_in(10)) {
    for (int64_t& extent : dims) extent = extent == 1 ? graph.dice().roll(1, 3) : extent;
  }
  return dims;
}

// Arithmetic with a constant that broadcasts: biases, scales, rows, columns, planes.
bool add_tensor_arithmetic(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {"Add", "Add", "Add", "Sub", "Mul",
                                                      "Mul", "Div", "Max", "Min", "PRelu"};
  const std::string x = *graph.pick();
  const std::string function = graph.dice().pick(kFunctions);
  const Range range = function == "Div" ? Range::away_from_zero() : Range{-2, 2};
  const std::string other = graph.weights(related_dims(graph, x, function != "PRelu"), range);
  std::vector<std::string> inputs = {x, other};
  if (function != "PRelu" && graph.dice().one_in(3)) std::reverse(inputs.begin(), inputs.end());
  return graph.add(Draft(function.c_str(), inputs)).has_value();
}

// Arithmetic on two values of one shape, as in residual connections.
bool add_residual(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {"Add", "Add", "Add", "Sum", "Mul",
                                                      "Sub", "Max", "Min", "Div"};
  const std::string x = *graph.pick();
  const auto other = graph.pick_like(x);
  const std::string second = other && !graph.dice().one_in(10) ? *other : x;
  std::vector<std::string> inputs = {x, second};
  if (graph.dice().one_in(2)) std::reverse(inputs.begin(), inputs.end());
  return graph.add(Draft(graph.dice().pick(kFunctions), inputs)).has_value();
}

// Two values of different shapes, each of which may be the larger one.
bool add_broadcast(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {"Add", "Sub", "Mul", "Div", "Max", "Min"};
  const std::string x = *graph.pick(), y = *graph.pick();
  return graph.add(Draft(graph.dice().pick(kFunctions), {x, y})).has_value();
}

bool add_variadic(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {"Sum", "Max", "Min", "Mean"};
  const std::string x = *graph.pick();
  Draft draft(graph.dice().pick(kFunctions), {x});
  for (int64_t count = graph.dice().roll(0, 3); count > 0; --count) {
    const auto other = graph.pick_like(x);
    draft.read(
        other && graph.dice().one_in(2)
            ? *other
            : graph.constant(graph.opset() < 8 ? graph.dims(x) : related_dims(graph, x, true),
                             {-2, 2}));
  }
  return graph.add(draft).has_value();
}

}  // namespace

const Choices& elementwise_choices() {
  static const Choices kChoices = {
      {14, &add_function},           {2, &add_partial_function},
      {6, &add_function_with_slope}, {7, &add_clip},
      {14, &add_scalar_arithmetic},  {3, &add_power},
      {12, &add_tensor_arithmetic},  {8, &add_residual},
      {2, &add_broadcast},           {2, &add_variadic},
  };
  return kChoices;
}

}  // namespace ephost::conformance
