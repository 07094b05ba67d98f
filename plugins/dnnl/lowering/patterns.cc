#include "plugins/dnnl/lowering/patterns.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace ephost_dnnl {
namespace {

// Walks from node to node; the walk fails as soon as one step does.
class Walk {
 public:
  explicit Walk(const eph::GraphView& graph) : graph_(graph) {}

  [[nodiscard]] bool is(uint32_t node, std::string_view op_type) const {
    if (node == EPH_NONE) return false;
    const eph::NodeView view = graph_.node(node);
    return view.op_type() == op_type && (view.domain().empty() || view.domain() == "ai.onnx") &&
           !view.is_taken();
  }
  [[nodiscard]] uint32_t input(uint32_t node, std::size_t i) const {
    return graph_.node(node).input(i);
  }
  [[nodiscard]] uint32_t output(uint32_t node) const { return graph_.node(node).output(0); }
  // The producer of a value, if it is of that type.
  [[nodiscard]] uint32_t producer(uint32_t value, std::string_view op_type) const {
    if (value == EPH_NONE) return EPH_NONE;
    const uint32_t node = graph_.value(value).producer();
    return is(node, op_type) ? node : EPH_NONE;
  }
  // The one node that reads the output of a node, if it is of that type and reads it once.
  [[nodiscard]] uint32_t only_consumer(uint32_t node, std::string_view op_type) const {
    const eph::ValueView value = graph_.value(output(node));
    if (value.is_graph_output() || value.consumers().size() != 1) return EPH_NONE;
    const uint32_t consumer = value.consumers()[0];
    return is(consumer, op_type) && reads(consumer, value.index()) == 1 ? consumer : EPH_NONE;
  }
  // Whether the output of a node is read by these nodes and no others.
  [[nodiscard]] bool is_read_by(uint32_t node, std::vector<uint32_t> readers) const {
    const eph::ValueView value = graph_.value(output(node));
    std::vector<uint32_t> consumers = value.consumers().to_vector();
    consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
    std::sort(readers.begin(), readers.end());
    return !value.is_graph_output() && consumers == readers;
  }
  // The value of a constant with one element.
  [[nodiscard]] std::optional<float> scalar(uint32_t value) const {
    if (value == EPH_NONE) return std::nullopt;
    const eph_value* constant = graph_.value(value).constant();
    if (constant == nullptr || constant->element_type != EPH_ELEMENT_FLOAT ||
        constant->byte_size != sizeof(float)) {
      return std::nullopt;
    }
    return *static_cast<const float*>(constant->data);
  }
  [[nodiscard]] bool is_scalar(uint32_t value, double expected) const {
    const std::optional<float> found = scalar(value);
    return found && std::abs(*found - expected) < 1e-5 * expected;
  }
  // The input of a commutative node that isn't `value`; EPH_NONE if `value` isn't read.
  [[nodiscard]] uint32_t other_input(uint32_t node, uint32_t value) const {
    if (input(node, 0) == value) return input(node, 1);
    return input(node, 1) == value ? input(node, 0) : EPH_NONE;
  }
  // The rank of a float tensor; 0 where it isn't one.
  [[nodiscard]] std::size_t rank(uint32_t value) const {
    const eph::ValueView view = graph_.value(value);
    return view.element_type() == EPH_ELEMENT_FLOAT ? view.shape().size() : 0;
  }
  [[nodiscard]] const eph::GraphView& graph() const { return graph_; }

 private:
  [[nodiscard]] int64_t reads(uint32_t node, uint32_t value) const {
    const eph::ArrayView<uint32_t> inputs = graph_.node(node).inputs();
    return std::count(inputs.begin(), inputs.end(), value);
  }
  const eph::GraphView& graph_;
};

constexpr double kRootTwo = 1.4142135623730951;

Unit make_unit(Unit::Kind kind, std::vector<uint32_t> nodes, uint32_t input) {
  std::sort(nodes.begin(), nodes.end());
  Unit unit;
  unit.kind = kind;
  unit.nodes = std::move(nodes);
  unit.input = input;
  return unit;
}

// The x of x / sqrt 2, or EPH_NONE.
uint32_t divided_by_root_two(const Walk& walk, uint32_t value, uint32_t& node) {
  node = walk.producer(value, "Div");
  if (node != EPH_NONE) {
    return walk.is_scalar(walk.input(node, 1), kRootTwo) ? walk.input(node, 0) : EPH_NONE;
  }
  node = walk.producer(value, "Mul");
  if (node == EPH_NONE) return EPH_NONE;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (walk.is_scalar(walk.input(node, i), 1 / kRootTwo)) return walk.input(node, 1 - i);
  }
  return EPH_NONE;
}

// Whether a ReduceMean node keeps its dimensions and reduces the last one only.
bool is_mean_of_last(const Walk& walk, uint32_t node) {
  const eph::NodeView view = walk.graph().node(node);
  if (view.get_int("keepdims", 1) != 1) return false;
  std::vector<int64_t> axes = view.get_ints("axes").to_vector();
  if (view.inputs().size() > 1) {
    const eph_value* constant = walk.graph().constant_input(view, 1);
    if (constant == nullptr) return false;
    axes = eph::elements<int64_t>(*constant).to_vector();
  }
  const auto rank = static_cast<int64_t>(walk.rank(view.input(0)));
  return rank >= 2 && rank <= 5 && axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1);
}

// Matches x - mean(x) and returns its Sub and ReduceMean nodes.
bool match_centring(const Walk& walk, uint32_t centred, uint32_t& subtraction, uint32_t& mean) {
  subtraction = walk.producer(centred, "Sub");
  if (subtraction == EPH_NONE) return false;
  mean = walk.producer(walk.input(subtraction, 1), "ReduceMean");
  return mean != EPH_NONE && walk.input(mean, 0) == walk.input(subtraction, 0) &&
         is_mean_of_last(walk, mean) && walk.is_read_by(mean, {subtraction});
}

// centred^2 as Pow by 2 or as Mul with itself; EPH_NONE if it is neither.
uint32_t match_square(const Walk& walk, uint32_t value, uint32_t centred) {
  const uint32_t power = walk.producer(value, "Pow");
  if (power != EPH_NONE) {
    const bool fits = walk.input(power, 0) == centred && walk.is_scalar(walk.input(power, 1), 2.0);
    return fits ? power : EPH_NONE;
  }
  const uint32_t product = walk.producer(value, "Mul");
  const bool fits =
      product != EPH_NONE && walk.input(product, 0) == centred && walk.input(product, 1) == centred;
  return fits ? product : EPH_NONE;
}

// Whether a value is a constant vector of that extent.
bool is_vector(const Walk& walk, uint32_t value, int64_t extent) {
  if (value == EPH_NONE) return false;
  const eph_value* constant = walk.graph().value(value).constant();
  return constant != nullptr && constant->element_type == EPH_ELEMENT_FLOAT &&
         constant->rank == 1 && constant->shape[0] == extent;
}

}  // namespace

std::optional<Unit> match_gelu(const eph::GraphView& graph, uint32_t erf) {
  const Walk walk(graph);
  if (!walk.is(erf, "Erf")) return std::nullopt;
  uint32_t division = EPH_NONE;
  const uint32_t x = divided_by_root_two(walk, walk.input(erf, 0), division);
  if (x == EPH_NONE || !walk.is_read_by(division, {erf})) return std::nullopt;
  const uint32_t sum = walk.only_consumer(erf, "Add");
  if (sum == EPH_NONE || !walk.is_scalar(walk.other_input(sum, walk.output(erf)), 1.0)) {
    return std::nullopt;
  }
  const uint32_t product = walk.only_consumer(sum, "Mul");
  if (product == EPH_NONE) return std::nullopt;
  const uint32_t factor = walk.other_input(product, walk.output(sum));
  if (factor == x) {  // halved last
    const uint32_t last = walk.only_consumer(product, "Mul");
    if (last == EPH_NONE || !walk.is_scalar(walk.other_input(last, walk.output(product)), 0.5)) {
      return std::nullopt;
    }
    return make_unit(Unit::Kind::kGelu, {division, erf, sum, product, last}, x);
  }
  const uint32_t half = walk.producer(factor, "Mul");  // halved first
  if (half == EPH_NONE || !walk.is_read_by(half, {product}) ||
      !walk.is_scalar(walk.other_input(half, x), 0.5)) {
    return std::nullopt;
  }
  return make_unit(Unit::Kind::kGelu, {division, erf, sum, half, product}, x);
}

std::optional<Unit> match_layer_normalization(const eph::GraphView& graph, uint32_t division) {
  const Walk walk(graph);
  if (!walk.is(division, "Div")) return std::nullopt;
  uint32_t subtraction = EPH_NONE, mean = EPH_NONE;
  const uint32_t centred = walk.input(division, 0);
  if (!match_centring(walk, centred, subtraction, mean)) return std::nullopt;
  const uint32_t root = walk.producer(walk.input(division, 1), "Sqrt");
  if (root == EPH_NONE || !walk.is_read_by(root, {division})) return std::nullopt;
  const uint32_t sum = walk.producer(walk.input(root, 0), "Add");
  if (sum == EPH_NONE || !walk.is_read_by(sum, {root})) return std::nullopt;
  const std::size_t epsilon_at = walk.scalar(walk.input(sum, 0)) ? 0 : 1;
  const std::optional<float> epsilon = walk.scalar(walk.input(sum, epsilon_at));
  const uint32_t variance = walk.producer(walk.input(sum, 1 - epsilon_at), "ReduceMean");
  if (!epsilon || variance == EPH_NONE || !is_mean_of_last(walk, variance) ||
      !walk.is_read_by(variance, {sum})) {
    return std::nullopt;
  }
  const uint32_t square = match_square(walk, walk.input(variance, 0), centred);
  if (square == EPH_NONE || !walk.is_read_by(square, {variance}) ||
      !walk.is_read_by(subtraction, {square, division})) {
    return std::nullopt;
  }
  const uint32_t product = walk.only_consumer(division, "Mul");
  if (product == EPH_NONE) return std::nullopt;
  const uint32_t shifted = walk.only_consumer(product, "Add");
  if (shifted == EPH_NONE) return std::nullopt;

  const eph::ArrayView<int64_t> shape = graph.value(centred).shape();
  if (shape.empty()) return std::nullopt;
  Unit unit =
      make_unit(Unit::Kind::kLayerNormalization,
                {mean, subtraction, square, variance, sum, root, division, product, shifted},
                walk.input(subtraction, 0));
  unit.scale = walk.other_input(product, walk.output(division));
  unit.bias = walk.other_input(shifted, walk.output(product));
  unit.epsilon = *epsilon;
  const int64_t extent = shape[shape.size() - 1];
  if (!is_vector(walk, unit.scale, extent) || !is_vector(walk, unit.bias, extent)) {
    return std::nullopt;
  }
  return unit;
}

}  // namespace ephost_dnnl
