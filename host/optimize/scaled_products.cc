#include "host/optimize/scaled_products.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "host/graph/connect.h"

namespace ephost::optimize {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::kNoNode;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

constexpr std::string_view kProduct = "MatMulInteger";

// A group and the inputs of what takes its place.
struct Group {
  NodeId last = kNoNode;
  std::vector<NodeId> others;  // nothing else reads their outputs
  ValueId a = kNoValue, b = kNoValue, a_scale = kNoValue, b_scale = kNoValue, a_zero = kNoValue,
          b_zero = kNoValue, bias = kNoValue;

  [[nodiscard]] Node node(const Graph& graph) const {
    Node made = {.name = graph.nodes[last].name,
                 .op_type = "MatMulIntegerToFloat",
                 .domain = "com.microsoft",
                 .since_version = 1};
    made.inputs = {a, b, a_scale, b_scale, a_zero, b_zero, bias};
    while (made.inputs.back() == kNoValue) made.inputs.pop_back();
    made.outputs = graph.nodes[last].outputs;
    return made;
  }
};

class ScaledProducts {
 public:
  ScaledProducts(Graph& graph, const QuantizedOperators& options)
      : graph_(graph), options_(options), uses_(graph.values.size(), 0) {
    for (const Node& node : graph.nodes) {
      for (const std::vector<ValueId>* used : {&node.inputs, &node.implicit_inputs}) {
        for (const ValueId id : *used) {
          if (id != kNoValue) ++uses_[id];
        }
      }
    }
    for (const ValueId output : graph.outputs) ++uses_[output];
  }

  std::vector<NodeId> run() && {
    std::vector<NodeId> formed;
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      const std::optional<Group> found = group_of(id);
      if (!found) continue;
      const std::optional<Group> with_bias = add_bias(*found);
      const Group& group = with_bias ? *with_bias : *found;
      Node replacement = group.node(graph_);
      if (!options_.has_kernel(replacement)) continue;
      replace(group, std::move(replacement));
      formed.push_back(group.last);
    }
    if (!formed.empty()) graph::connect(graph_);
    std::ranges::sort(formed);
    return formed;
  }

 private:
  // The node of that operator which makes the value, if it may be replaced.
  [[nodiscard]] NodeId producer(ValueId value, std::string_view op_type) const {
    const NodeId id = value == kNoValue ? kNoNode : graph_.values[value].producer;
    const bool fits = id != kNoNode && options_.is_free(id) &&
                      is_standard(graph_.nodes[id], op_type) &&
                      graph_.nodes[id].outputs[0] == value;
    return fits ? id : kNoNode;
  }
  // The same, if nothing but one node reads the value.
  [[nodiscard]] NodeId only_producer(ValueId value, std::string_view op_type) const {
    return value != kNoValue && uses_[value] == 1 ? producer(value, op_type) : kNoNode;
  }

  // The group that ends with the multiplication by the scales.
  [[nodiscard]] std::optional<Group> group_of(NodeId id) const {
    if (!options_.is_free(id) || !is_standard(graph_.nodes[id], "Mul")) return {};
    const Node& scaling = graph_.nodes[id];
    for (const size_t side : {0U, 1U}) {
      const NodeId cast = only_producer(scaling.inputs[side], "Cast");
      if (cast == kNoNode || !is_float(scaling.inputs[side])) continue;
      const NodeId product = only_producer(graph_.nodes[cast].inputs[0], kProduct);
      const NodeId factor = producer(scaling.inputs[1 - side], "Mul");
      if (product == kNoNode || factor == kNoNode) continue;
      std::optional<Group> group = operands(graph_.nodes[product], graph_.nodes[factor]);
      if (!group) continue;
      group->last = id;
      group->others = {product, cast};
      if (uses_[scaling.inputs[1 - side]] == 1) group->others.push_back(factor);
      return group;
    }
    return {};
  }

  [[nodiscard]] std::optional<Group> operands(const Node& product, const Node& factor) const {
    const auto input = [&](size_t i) {
      return i < product.inputs.size() ? product.inputs[i] : kNoValue;
    };
    Group group = {.a = input(0), .b = input(1), .a_zero = input(2), .b_zero = input(3)};
    const graph::Shape* a = shape_of(group.a);
    const graph::Shape* b = shape_of(group.b);
    if (a == nullptr || b == nullptr || a->size() < 2 || b->size() != 2) return {};
    const int64_t columns = (*b)[1];
    if (group.a_zero != kNoValue && !is_single(group.a_zero)) return {};
    if (group.b_zero != kNoValue && !is_of(group.b_zero, columns)) return {};
    for (const size_t side : {0U, 1U}) {
      group.a_scale = factor.inputs[side];
      group.b_scale = factor.inputs[1 - side];
      if (is_float(group.a_scale) && is_float(group.b_scale) && is_single(group.a_scale) &&
          is_of(group.b_scale, columns)) {
        return group;
      }
    }
    return {};
  }

  // The same with the addition that follows, if only that reads the result.
  [[nodiscard]] std::optional<Group> add_bias(const Group& group) const {
    const ValueId scaled = graph_.nodes[group.last].outputs[0];
    const std::vector<NodeId>& readers = graph_.values[scaled].consumers;
    if (uses_[scaled] != 1 || readers.size() != 1) return {};
    const Node& addition = graph_.nodes[readers[0]];
    if (!options_.is_free(readers[0]) || !is_standard(addition, "Add")) return {};
    Group longer = group;
    longer.bias = addition.inputs[addition.inputs[0] == scaled ? 1 : 0];
    const graph::Shape* bias = shape_of(longer.bias);
    const int64_t columns = (*shape_of(group.b))[1];
    if (bias == nullptr || !graph::is_static_dim(columns) || *bias != graph::Shape{columns} ||
        !is_float(longer.bias)) {
      return {};
    }
    longer.others.push_back(longer.last);
    longer.last = readers[0];
    return longer;
  }

  void replace(const Group& group, Node replacement) {
    for (const NodeId id : group.others) strip(graph_.nodes[id]);
    strip(graph_.nodes[group.last]);
    for (const ValueId id : replacement.inputs) {
      if (id != kNoValue) ++uses_[id];
    }
    graph_.nodes[group.last] = std::move(replacement);
  }
  void strip(Node& node) {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) --uses_[id];
    }
    node.inputs.clear();
    node.outputs.clear();
    node.attributes.clear();
  }

  [[nodiscard]] const graph::Shape* shape_of(ValueId value) const {
    const graph::ValueType& type = graph_.values[value].type;
    return type.shape ? &*type.shape : nullptr;
  }
  [[nodiscard]] bool is_float(ValueId value) const {
    return value != kNoValue && graph_.values[value].type.element == ElementType::kFloat;
  }
  // A scalar, or a list of one element.
  [[nodiscard]] bool is_single(ValueId value) const {
    const graph::Shape* shape = shape_of(value);
    return shape != nullptr && (shape->empty() || *shape == graph::Shape{1});
  }
  // The same, or a list with an element for each column.
  [[nodiscard]] bool is_of(ValueId value, int64_t columns) const {
    return is_single(value) || (shape_of(value) != nullptr && graph::is_static_dim(columns) &&
                                *shape_of(value) == graph::Shape{columns});
  }

  Graph& graph_;
  const QuantizedOperators& options_;
  std::vector<int64_t> uses_;  // by value: number of reading slots and graph outputs
};

}  // namespace

bool starts_scaled_product(const Node& node) { return is_standard(node, kProduct); }

std::vector<NodeId> form_scaled_products(Graph& graph, const QuantizedOperators& options) {
  return ScaledProducts(graph, options).run();
}

}  // namespace ephost::optimize
