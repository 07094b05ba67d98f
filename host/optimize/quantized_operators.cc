#include "host/optimize/quantized_operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "host/graph/connect.h"
#include "host/optimize/quantization_parameters.h"

namespace ephost::optimize {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::kNoNode;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

// Operators that move elements, or choose among them, without computing new ones.
bool moves_elements(const Node& node) {
  constexpr std::array<std::string_view, 5> kOperators = {"Reshape", "Flatten", "Squeeze",
                                                          "Unsqueeze", "Transpose"};
  if (node.op_type == "MaxPool") return node.since_version >= 12;  // earlier ones are of float
  return std::ranges::find(kOperators, node.op_type) != kOperators.end();
}

// The product of two differences between a byte and its zero point.
constexpr double kLargestProduct = 255.0 * 255.0;

bool is_byte(ElementType type) { return type == ElementType::kInt8 || type == ElementType::kUint8; }
bool is_short(ElementType type) {
  return is_byte(type) || type == ElementType::kInt16 || type == ElementType::kUint16;
}

// A DequantizeLinear node as a node that reads its output sees it.
struct Dequantized {
  ValueId integers = kNoValue;
  ElementType type = ElementType::kUndefined;
  QuantizationParameters parameters;
};

// A QuantizeLinear node and the only node that it reads from.
struct Ending {
  NodeId quantize = kNoNode;
  NodeId node = kNoNode;
  ElementType type = ElementType::kUndefined;
  QuantizationParameters parameters;
};

class Fusion {
 public:
  Fusion(Graph& graph, const QuantizedOperators& options, UniqueNames& names)
      : graph_(graph), options_(options), names_(names), uses_(graph.values.size(), 0) {
    for (const Node& node : graph.nodes) count(node, 1);
    for (const ValueId output : graph.outputs) ++uses_[output];
  }

  std::vector<NodeId> run() && {
    std::vector<NodeId> formed;
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      const std::optional<Ending> ending = ending_at(id);
      std::optional<Node> replacement = ending ? form(*ending) : std::nullopt;
      if (!replacement) continue;
      replacement->outputs = graph_.nodes[id].outputs;
      if (!options_.has_kernel(*replacement)) continue;
      if (!moves_elements(*replacement)) state_zero_points(*replacement);
      replace(*ending, *std::move(replacement));
      formed.push_back(id);
    }
    if (!formed.empty()) graph::connect(graph_);
    return formed;
  }

 private:
  void count(const Node& node, int change) {
    for (const std::vector<ValueId>* used : {&node.inputs, &node.implicit_inputs}) {
      for (const ValueId id : *used) {
        if (id != kNoValue) uses_[id] += change;
      }
    }
  }

  std::optional<Ending> ending_at(NodeId id) const {
    const Node& node = graph_.nodes[id];
    if (node.op_type != "QuantizeLinear" || !options_.is_free(id)) return {};
    auto parameters = quantization_parameters(graph_, node);
    if (!parameters || !parameters->has_one_scale() || node.outputs[0] == kNoValue) return {};
    const NodeId before = graph_.values[node.inputs[0]].producer;
    if (before == kNoNode || uses_[node.inputs[0]] != 1 || !options_.is_free(before)) return {};
    const Node& producer = graph_.nodes[before];
    if (!producer.domain.empty() || producer.is_of_other_opset) return {};
    const auto is_wanted = [](ValueId output) { return output != kNoValue; };
    if (producer.outputs[0] != node.inputs[0] ||
        std::ranges::count_if(producer.outputs, is_wanted) != 1) {
      return {};
    }
    return Ending{id, before, graph_.values[node.outputs[0]].type.element, *std::move(parameters)};
  }

  std::optional<Dequantized> dequantized(const Node& reader, size_t input) const {
    if (input >= reader.inputs.size() || reader.inputs[input] == kNoValue) return {};
    const NodeId producer = graph_.values[reader.inputs[input]].producer;
    if (producer == kNoNode || !options_.is_free(producer)) return {};
    const Node& node = graph_.nodes[producer];
    if (node.op_type != "DequantizeLinear") return {};
    auto parameters = quantization_parameters(graph_, node);
    if (!parameters) return {};
    return Dequantized{node.inputs[0], graph_.values[node.inputs[0]].type.element,
                       *std::move(parameters)};
  }

  // The replacement, without attributes, and without zero points that are not stated.
  std::optional<Node> form(const Ending& ending) const {
    const Node& node = graph_.nodes[ending.node];
    if (moves_elements(node)) return form_movement(ending, node);
    if (!is_byte(ending.type)) return {};
    if (node.op_type == "Conv") return form_convolution(ending, node);
    if (node.op_type == "MatMul") return form_product(ending, node);
    if (node.op_type == "Add") return form_sum(ending, node);
    return {};
  }

  // What is quantised as before is the same integer again: (q - z) * s / s differs from q - z by
  // less than a half, as long as nothing overflows.
  std::optional<Node> form_movement(const Ending& ending, const Node& node) const {
    const std::optional<Dequantized> x = dequantized(node, 0);
    constexpr float kLargest = 1e30F;
    const bool is_same = x && is_short(x->type) && x->type == ending.type &&
                         x->parameters.has_one_scale() &&
                         x->parameters.scales == ending.parameters.scales &&
                         zero_point_of(x->parameters) == zero_point_of(ending.parameters) &&
                         x->parameters.scales[0] < kLargest;
    if (!is_same) return {};
    Node moved = like(node, node.op_type, node.since_version);
    moved.inputs = node.inputs;
    moved.inputs[0] = x->integers;
    return moved;
  }

  std::optional<Node> form_convolution(const Ending& ending, const Node& node) const {
    const std::optional<Dequantized> x = dequantized(node, 0);
    const std::optional<Dequantized> w = dequantized(node, 1);
    if (!x || !w || !is_byte(x->type) || !is_byte(w->type)) return {};
    const graph::Shape* shape = static_shape(w->integers);
    if (shape == nullptr || shape->size() < 3 || (*shape)[0] < 1) return {};
    const auto channels = static_cast<size_t>((*shape)[0]);
    const auto rank = static_cast<int64_t>(shape->size());
    const bool fits = w->parameters.has_one_scale() || (w->parameters.scales.size() == channels &&
                                                        is_axis(w->parameters.axis, 0, rank));
    const double terms = static_cast<double>(*graph::element_count(*shape) / channels);
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
    const std::optional<double> bias = has_bias ? largest_bias(node, *x, *w, channels) : 0;
    if (!fits || !x->parameters.has_one_scale() || !bias) return {};
    if (!is_exact(*x, *w, ending, terms * kLargestProduct + *bias)) return {};
    Node made = like(node, "QLinearConv", 10);
    made.inputs = operands(*x, *w, ending);
    if (has_bias) made.inputs.push_back(producer_of(node.inputs[2]).inputs[0]);
    return made;
  }

  std::optional<Node> form_product(const Ending& ending, const Node& node) const {
    const std::optional<Dequantized> a = dequantized(node, 0);
    const std::optional<Dequantized> b = dequantized(node, 1);
    if (!a || !b || !is_byte(a->type) || !is_byte(b->type)) return {};
    const graph::ValueType& type = graph_.values[b->integers].type;
    if (!type.shape || type.shape->empty() || !a->parameters.has_one_scale()) return {};
    const graph::Shape& shape = *type.shape;
    const int64_t rows = shape.size() == 1 ? shape[0] : shape[shape.size() - 2];
    if (!graph::is_static_dim(rows)) return {};
    // Several scales belong to the columns of a matrix.
    const bool fits =
        b->parameters.has_one_scale() ||
        (shape.size() == 2 && static_cast<int64_t>(b->parameters.scales.size()) == shape[1] &&
         is_axis(b->parameters.axis, 1, 2));
    const double largest_sum = static_cast<double>(rows) * kLargestProduct;
    if (!fits || !is_exact(*a, *b, ending, largest_sum)) return {};
    constexpr int32_t kSecondVersion = 21;
    Node made = like(node, "QLinearMatMul", options_.opset < kSecondVersion ? 10 : kSecondVersion);
    made.inputs = operands(*a, *b, ending);
    return made;
  }

  // The operator adds in float as well.
  std::optional<Node> form_sum(const Ending& ending, const Node& node) const {
    constexpr int32_t kFirstWithBroadcasting = 7;
    const std::optional<Dequantized> a = dequantized(node, 0);
    const std::optional<Dequantized> b = dequantized(node, 1);
    if (!a || !b || a->type != ending.type || b->type != ending.type ||
        node.since_version < kFirstWithBroadcasting || !a->parameters.has_one_scale() ||
        !b->parameters.has_one_scale()) {
      return {};
    }
    Node made = like(node, "QLinearAdd", 1);
    made.domain = "com.microsoft";
    made.inputs = operands(*a, *b, ending);
    return made;
  }

  // The largest bias, if the bias is what the operator can add: integers, with the scale of the
  // sums and without zero point.
  std::optional<double> largest_bias(const Node& node, const Dequantized& x, const Dequantized& w,
                                     size_t channels) const {
    const std::optional<Dequantized> bias = dequantized(node, 2);
    if (!bias || bias->type != ElementType::kInt32) return {};
    const std::optional<std::vector<int32_t>> integers = integers_of(graph_, bias->integers);
    const QuantizationParameters& given = bias->parameters;
    if (!integers || integers->size() != channels) return {};
    if (!given.has_one_scale() && given.scales.size() != channels) return {};
    if (std::ranges::any_of(given.zero_points, [](int32_t zero) { return zero != 0; })) return {};
    double largest = 0;
    for (size_t i = 0; i < channels; ++i) {
      const float of_weights = w.parameters.scales[w.parameters.has_one_scale() ? 0 : i];
      const float stated = given.scales[given.has_one_scale() ? 0 : i];
      if (stated != x.parameters.scales[0] * of_weights) return {};
      largest = std::max(largest, std::abs(static_cast<double>((*integers)[i])));
    }
    return largest;
  }

  // Whether sums of integers up to `largest_sum` fit into 32 bits, and all that the float operators
  // compute, and the factor between sums and results, are normal numbers.
  static bool is_exact(const Dequantized& x, const Dequantized& w, const Ending& ending,
                       double largest_sum) {
    constexpr double kLargestByte = 255;
    const float of_x = x.parameters.scales[0];
    const float factor = of_x / ending.parameters.scales[0];
    return largest_sum < 2147483648.0 && is_normal(kLargestByte * of_x) && is_normal(factor) &&
           std::ranges::all_of(w.parameters.scales, [&](float of_w) {
             return is_normal(kLargestByte * of_w) && is_normal(double{factor} * of_w) &&
                    is_normal(double{of_x} * of_w) && is_normal(largest_sum * of_x * of_w);
           });
  }
  static bool is_normal(double number) {
    using Limits = std::numeric_limits<float>;
    return number >= Limits::min() && number <= Limits::max();
  }

  static int32_t zero_point_of(const QuantizationParameters& parameters) {
    return parameters.zero_points.empty() ? 0 : parameters.zero_points[0];
  }
  static bool is_axis(int64_t axis, int64_t wanted, int64_t rank) {
    return axis == wanted || axis + rank == wanted;
  }
  const graph::Shape* static_shape(ValueId value) const {
    const graph::ValueType& type = graph_.values[value].type;
    const bool is_known = type.shape && graph::is_static(*type.shape) &&
                          graph::element_count(*type.shape).has_value();
    return is_known ? &*type.shape : nullptr;
  }
  const Node& producer_of(ValueId value) const {
    return graph_.nodes[graph_.values[value].producer];
  }

  // The inputs that QLinearConv, QLinearMatMul and QLinearAdd have in common.
  static std::vector<ValueId> operands(const Dequantized& a, const Dequantized& b,
                                       const Ending& ending) {
    return {a.integers,
            a.parameters.scale,
            a.parameters.zero_point,
            b.integers,
            b.parameters.scale,
            b.parameters.zero_point,
            ending.parameters.scale,
            ending.parameters.zero_point};
  }

  // These operators need all zero points.
  void state_zero_points(Node& node) {
    const auto state = [&](size_t input, ValueId value) {
      ValueId& stated = node.inputs[input];
      if (stated == kNoValue) stated = zero(graph_.values[value].type.element);
    };
    state(2, node.inputs[0]);
    state(5, node.inputs[3]);
    state(7, node.outputs[0]);
  }

  ValueId zero(ElementType type) {
    const auto [known, is_new] = zeros_.emplace(type, kNoValue);
    if (is_new) {
      known->second = graph_.add_value(
          {.name = names_.make("quantization", "zero_point"),
           .type = {.kind = graph::ValueKind::kTensor, .element = type, .shape = graph::Shape{}},
           .initializer = static_cast<uint32_t>(graph_.initializers.size())});
      graph_.initializers.push_back(
          {.type = type, .shape = {}, .data = graph::make_blob(std::vector<std::byte>(1))});
      uses_.push_back(0);
    }
    return known->second;
  }

  // A node without inputs and outputs; its attributes come when it takes the node's place.
  static Node like(const Node& node, std::string_view op_type, int32_t since_version) {
    return {.name = node.name, .op_type = std::string(op_type), .since_version = since_version};
  }

  void replace(const Ending& ending, Node replacement) {
    Node& node = graph_.nodes[ending.node];
    replacement.attributes = std::move(node.attributes);
    count(replacement, 1);
    const std::vector<ValueId> read = node.inputs;
    strip(ending.quantize);
    strip(ending.node);
    for (const ValueId value : read) {
      const NodeId producer = value == kNoValue ? kNoNode : graph_.values[value].producer;
      if (producer != kNoNode && uses_[value] == 0 && options_.is_free(producer) &&
          graph_.nodes[producer].op_type == "DequantizeLinear") {
        strip(producer);
      }
    }
    graph_.nodes[ending.quantize] = std::move(replacement);
  }

  void strip(NodeId id) {
    Node& node = graph_.nodes[id];
    count(node, -1);
    node.inputs.clear();
    node.outputs.clear();
    node.attributes.clear();
  }

  Graph& graph_;
  const QuantizedOperators& options_;
  UniqueNames& names_;
  std::vector<int64_t> uses_;             // by value: number of reading slots and graph outputs
  std::map<ElementType, ValueId> zeros_;  // constants made here
};

}  // namespace

bool is_standard(const Node& node, std::string_view op_type) {
  return node.op_type == op_type && node.domain.empty() && !node.is_of_other_opset;
}

std::vector<NodeId> form_quantized_operators(Graph& graph, const QuantizedOperators& options,
                                             UniqueNames& names) {
  return Fusion(graph, options, names).run();
}

}  // namespace ephost::optimize
