// Several nodes at once, as exporters write them: the patterns that providers compute as one
// operation, and others so similar that they might be mistaken for them.
#include <algorithm>
#include <cmath>

#include "host/conformance/random/generate/random_graph.h"

namespace ephost::conformance {
namespace {

using Name = std::optional<std::string>;

// The node with both inputs in either order.
Name add_either_way(RandomGraph& graph, const char* type, const std::string& a,
                    const std::string& b) {
  return graph.dice().one_in(2) ? graph.add(Draft(type, {a, b})) : graph.add(Draft(type, {b, a}));
}

// Two or three functions of one kind with parameters, one after the other.
bool add_repeated(RandomGraph& graph) {
  static const std::vector<const char*> kKinds = {"Clip", "Linear", "LeakyRelu", "Elu"};
  const std::string kind = graph.dice().pick(kKinds);
  Name x = graph.pick();
  for (int64_t count = graph.dice().roll(2, 3); x && count > 0; --count) {
    if (kind == "LeakyRelu" || kind == "Elu") {
      x = graph.add(Draft(kind.c_str(), {*x}).real("alpha", graph.dice().real(0.05, 1.5)));
    } else if (kind == "Linear") {
      x = graph.add(Draft("Mul", {*x, graph.scalar(graph.dice().real(0.3, 3))}));
      if (x) x = graph.add(Draft("Add", {*x, graph.scalar(graph.dice().real(-2, 2))}));
    } else if (graph.opset() >= 8) {
      const double bound = graph.quantile(*x, graph.dice().real(0.2, 0.8));
      x = graph.add(Draft(graph.dice().one_in(2) ? "Max" : "Min", {*x, graph.scalar(bound)}));
    } else {
      return false;
    }
  }
  return x.has_value();
}

// clip(x + 3, 0, 6) / 6, and times x for a hard-swish.
bool add_hard_sigmoid(RandomGraph& graph) {
  const std::string x = *graph.pick();
  if (graph.dice().one_in(4)) {
    Draft draft("HardSigmoid", {x});
    if (graph.dice().one_in(2)) draft.real("alpha", 1.0 / 6).real("beta", 0.5);
    return graph.add(draft).has_value();
  }
  Name y = add_either_way(graph, "Add", x, graph.scalar(3));
  if (!y) return false;
  Draft clip("Clip", {*y});
  if (graph.opset() < 11) {
    clip.real("min", 0).real("max", 6);
  } else {
    clip.read(graph.constant({}, {0, 0})).read(graph.constant({}, {6, 6}));
  }
  y = graph.add(clip);
  const bool divides = graph.dice().one_in(2);
  if (y && divides) y = graph.add(Draft("Div", {*y, graph.scalar(6)}));
  if (y && !divides) y = add_either_way(graph, "Mul", *y, graph.scalar(1.0 / 6));
  if (y && graph.dice().one_in(2)) y = add_either_way(graph, "Mul", *y, x);
  return y.has_value();
}

bool add_swish(RandomGraph& graph) {
  const std::string x = *graph.pick();
  const Name gate = graph.add(Draft("Sigmoid", {x}));
  return gate && add_either_way(graph, "Mul", *gate, x);
}

bool add_gelu(RandomGraph& graph) {
  if (graph.opset() < 9) return false;
  const std::string x = *graph.pick();
  Dice& dice = graph.dice();
  const double root = dice.one_in(8) ? 1.5 : 1.4142135623730951;
  const double half = dice.one_in(8) ? 0.4 : 0.5;
  Name y = dice.one_in(2) ? graph.add(Draft("Div", {x, graph.scalar(root)}))
                          : add_either_way(graph, "Mul", x, graph.scalar(1 / root));
  if (y) y = graph.add(Draft("Erf", {*y}));
  if (y) y = add_either_way(graph, "Add", *y, graph.scalar(1));
  if (!y) return false;
  if (dice.one_in(2)) {
    y = add_either_way(graph, "Mul", *y, x);
    return y && add_either_way(graph, "Mul", *y, graph.scalar(half));
  }
  const Name halved = add_either_way(graph, "Mul", x, graph.scalar(half));
  return halved && add_either_way(graph, "Mul", *y, *halved);
}

Name add_mean(RandomGraph& graph, const std::string& x) {
  Draft draft("ReduceMean", {x});
  const auto rank = std::ssize(graph.dims(x));
  graph.give_ints(draft, "axes", {graph.opset() >= 11 && graph.dice().one_in(2) ? -1 : rank - 1},
                  18);
  return graph.add(draft);
}

bool add_unfused_layer_normalization(RandomGraph& graph) {
  const auto found = graph.pick(2, 5);
  if (!found) return false;
  const std::string& x = *found;
  const Dims width = {graph.dims(x).back()};
  const Name mean = add_mean(graph, x);
  const Name centred = mean ? graph.add(Draft("Sub", {x, *mean})) : std::nullopt;
  if (!centred) return false;
  const Name square = graph.dice().one_in(2) ? graph.add(Draft("Mul", {*centred, *centred}))
                                             : graph.add(Draft("Pow", {*centred, graph.scalar(2)}));
  Name y = square ? add_mean(graph, *square) : std::nullopt;
  if (y) y = add_either_way(graph, "Add", *y, graph.scalar(graph.dice().real(1e-3, 0.5)));
  if (y) y = graph.add(Draft("Sqrt", {*y}));
  if (y) y = graph.add(Draft("Div", {*centred, *y}));
  if (y) y = add_either_way(graph, "Mul", *y, graph.constant(width, Range::away_from_zero()));
  return y && add_either_way(graph, "Add", *y, graph.constant(width, {-1, 1}));
}

// Two paths from one value that meet again.
bool add_diamond(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {"Relu", "Sigmoid", "Tanh", "Neg", "Abs"};
  const std::string x = *graph.pick();
  const Name left = graph.add(Draft(graph.dice().pick(kFunctions), {x}));
  const Name right = graph.add(Draft(graph.dice().pick(kFunctions), {x}));
  return left && right && graph.add(Draft("Add", {*left, *right}));
}

// A block of a network: a product, a scale and shift for each channel, an addition of a value of
// the same size, a function.
bool add_block(RandomGraph& graph) {
  static const std::vector<const char*> kFunctions = {"Relu", "Sigmoid", "Tanh", "LeakyRelu",
                                                      "Elu"};
  const auto found = graph.pick(3, 4);
  if (!found) return false;
  Dice& dice = graph.dice();
  const std::string& x = *found;
  const int64_t channels = graph.dims(x)[1];
  const Dims kernel(graph.dims(x).size() - 2, dice.one_in(2) ? 1 : 3);
  const bool keeps_size = dice.one_in(2);
  Dims dims = {keeps_size ? channels : dice.roll(1, 9), channels};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  Draft conv("Conv", {x, graph.constant(dims, Range::weights(channels * element_count(kernel)))});
  if (dice.one_in(2)) conv.read(graph.constant({dims[0]}, {-1, 1}));
  Name y = graph.add(conv.integers("pads", Dims(2 * kernel.size(), kernel[0] / 2)));
  if (y && !dice.one_in(3)) {
    y = graph.add(Draft(
        "BatchNormalization",
        {*y, graph.constant({dims[0]}, Range::away_from_zero()), graph.constant({dims[0]}, {-1, 1}),
         graph.constant({dims[0]}, {-1, 1}), graph.constant({dims[0]}, Range::positive())}));
  }
  if (y && keeps_size && !dice.one_in(3)) y = add_either_way(graph, "Add", *y, x);
  for (int64_t count = dice.roll(0, 2); y && count > 0; --count) {
    y = graph.add(Draft(dice.pick(kFunctions), {*y}));
  }
  return y.has_value();
}

Name add_round_trip(RandomGraph& graph, const std::string& x) {
  Dice& dice = graph.dice();
  const double largest =
      std::fmax(std::fabs(graph.quantile(x, 0)), std::fabs(graph.quantile(x, 1)));
  const double step = std::fmax(largest, 0.01) / dice.real(60, 150);
  const std::string scale = graph.constant({}, {step, step});
  const std::string zero_point = graph.int8({}, {dice.one_in(3) ? 0 : dice.roll(-20, 20)});
  const Name quantized = graph.add(Draft("QuantizeLinear", {x, scale, zero_point}));
  if (!quantized) return std::nullopt;
  return graph.add(Draft("DequantizeLinear", {*quantized, scale, zero_point}));
}

// A quantised block of a network: a product, a function, perhaps an addition and a pooling, each
// between a DequantizeLinear and a QuantizeLinear.
bool add_quantized_block(RandomGraph& graph) {
  if (graph.opset() < 13) return false;
  const auto found = graph.pick(2, 4);
  if (!found) return false;
  Dice& dice = graph.dice();
  const Dims dims = graph.dims(*found);
  if (graph.is_open(*found, dims.size() > 2 ? 1 : dims.size() - 1)) return false;
  const Name x = add_round_trip(graph, *found);
  if (!x) return false;
  const bool is_convolution = dims.size() > 2;
  const int64_t channels = is_convolution ? dims[1] : dims.back();
  Dims shape = {channels, channels};
  if (is_convolution) shape.insert(shape.end(), dims.size() - 2, 1);
  const Name w = graph.add_quantized(shape, 1.5 / std::sqrt(static_cast<double>(channels)));
  Name y = w ? graph.add(Draft(is_convolution ? "Conv" : "MatMul", {*x, *w})) : std::nullopt;
  if (y && dice.one_in(2)) y = graph.add(Draft("Relu", {*y}));
  if (y) y = add_round_trip(graph, *y);
  if (y && dice.one_in(2)) y = graph.add(Draft("Add", {*y, *x}));
  if (y && dice.one_in(2)) y = add_round_trip(graph, *y);
  return y.has_value();
}

// A quantised result whose channels fill no vector, of arithmetic with another tensor of its shape:
// what follows a convolution writes bytes.
bool add_narrow_bytes(RandomGraph& graph) {
  static const Dims kChannels = {1, 3, 4, 5, 7, 9, 12, 13, 17, 20};
  if (graph.opset() < 13) return false;
  const auto x = graph.pick(3, 5);
  if (!x || graph.is_open(*x, 1)) return false;
  Dice& dice = graph.dice();
  Dims shape = {dice.pick(kChannels), graph.dims(*x)[1]};
  const int64_t depth = shape[1];
  shape.insert(shape.end(), graph.dims(*x).size() - 2, 1);
  Name y = graph.add(Draft("Conv", {*x, graph.weights(shape, Range::weights(depth))}));
  if (!y) return false;
  bool is_open = false;
  for (std::size_t i = 0; i < graph.dims(*y).size(); ++i) is_open |= graph.is_open(*y, i);
  const Name other = is_open || dice.one_in(2) ? graph.add(Draft("Relu", {*y}))
                                               : Name(graph.weights(Dims(graph.dims(*y)), {-2, 2}));
  if (!other) return false;
  y = graph.add(Draft(dice.one_in(2) ? "Add" : "Mul", {*y, *other}));
  if (y) y = add_round_trip(graph, *y);
  return y.has_value();
}

// An addition to a product of something that is constant only after other nodes have been computed.
bool add_computed_constant(RandomGraph& graph) {
  const auto x = graph.pick(1, 5);
  if (!x) return false;
  Dims dims = graph.dims(*x);
  if (graph.is_open(*x, dims.size() - 1)) return false;
  const int64_t width = dims.back();
  const std::string row = graph.constant({width}, {-2, 2});
  const Name made = graph.dice().one_in(2)
                        ? graph.add(Draft("Reshape", {row, graph.ints({1, width})}))
                        : graph.add(Draft("Neg", {row}));
  return made && add_either_way(graph, "Add", *x, *made);
}

}  // namespace

const Choices& pattern_choices() {
  static const Choices kChoices = {{5, &add_repeated},
                                   {3, &add_hard_sigmoid},
                                   {1, &add_swish},
                                   {2, &add_gelu},
                                   {2, &add_unfused_layer_normalization},
                                   {2, &add_diamond},
                                   {5, &add_block},
                                   {1, &add_computed_constant},
                                   {14, &add_quantized_block},
                                   {6, &add_narrow_bytes}};
  return kChoices;
}

}  // namespace ephost::conformance
