#include "host/optimize/identity_rules.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ephost::optimize {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Shape;
using graph::Tensor;
using graph::ValueId;
using Numbers = std::vector<int64_t>;

bool has_input(const Node& node, size_t index) {
  return index < node.inputs.size() && node.inputs[index] != kNoValue;
}

const Shape* shape_of_input(const Graph& graph, const Node& node) {
  const graph::ValueType& type = graph.values[node.inputs[0]].type;
  return type.kind == graph::ValueKind::kTensor && type.shape ? &*type.shape : nullptr;
}

// A constant input of integers.
std::optional<Numbers> numbers_of_input(const Graph& graph, const Node& node, size_t index) {
  const Tensor* tensor = has_input(node, index) ? graph.constant(node.inputs[index]) : nullptr;
  if (tensor == nullptr) return std::nullopt;
  if (tensor->type == ElementType::kInt64) return graph::read_elements<int64_t, int64_t>(*tensor);
  if (tensor->type == ElementType::kInt32) return graph::read_elements<int32_t, int64_t>(*tensor);
  return std::nullopt;
}

std::optional<Numbers> numbers_of_attribute(const Node& node, std::string_view name) {
  const graph::AttributeValue* value = node.attribute(name);
  const auto* numbers = value ? std::get_if<Numbers>(value) : nullptr;
  return numbers ? std::optional(*numbers) : std::nullopt;
}

bool all_equal(const Numbers& numbers, int64_t wanted) {
  return std::ranges::all_of(numbers, [&](int64_t number) { return number == wanted; });
}

using IdentityRule = bool (*)(const Graph&, const Node&);

bool always(const Graph&, const Node&) { return true; }

bool of_one(const Graph&, const Node& node) { return node.inputs.size() == 1; }

bool infers(const Graph& graph, const Node& node) { return !trains(graph, node); }

bool casts_to_itself(const Graph& graph, const Node& node) {
  const ElementType from = graph.values[node.inputs[0]].type.element;
  if (from == ElementType::kUndefined) return false;
  if (node.op_type == "CastLike") {
    return has_input(node, 1) && graph.values[node.inputs[1]].type.element == from;
  }
  return node.integer("to") == static_cast<int64_t>(from);
}

// Each extent is stated or copied, and at most one is inferred from the others.
bool reshapes_to_itself(const Graph& graph, const Node& node) {
  const Shape* shape = shape_of_input(graph, node);
  const auto wanted = numbers_of_input(graph, node, 1);
  if (shape == nullptr || !wanted || wanted->size() != shape->size()) return false;
  const bool zero_copies = node.integer("allowzero").value_or(0) == 0;
  size_t left_open = 0;
  for (size_t i = 0; i < shape->size(); ++i) {
    const int64_t extent = (*wanted)[i];
    const bool is_same = extent == (*shape)[i] && extent > 0;
    if (extent == -1) ++left_open;
    if (!is_same && extent != -1 && !(extent == 0 && zero_copies)) return false;
  }
  return left_open == 0 || (left_open == 1 && std::ranges::count(*shape, 0) == 0);
}

bool flattens_matrix(const Graph& graph, const Node& node) {
  const Shape* shape = shape_of_input(graph, node);
  const int64_t axis = node.integer("axis").value_or(1);
  return shape != nullptr && shape->size() == 2 && (axis == 1 || axis == -1);
}

bool squeezes_nothing(const Graph& graph, const Node& node) {
  const Shape* shape = shape_of_input(graph, node);
  const bool names_axes = node.inputs.size() > 1 || node.attribute("axes") != nullptr;
  return !names_axes && shape != nullptr && graph::is_static(*shape) &&
         std::ranges::count(*shape, 1) == 0;
}

bool moves_no_axis(const Graph& graph, const Node& node) {
  const auto order = numbers_of_attribute(node, "perm");
  if (order && !order->empty()) {
    for (size_t i = 0; i < order->size(); ++i) {
      if ((*order)[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  }
  const Shape* shape = shape_of_input(graph, node);
  return shape != nullptr && shape->size() <= 1;
}

bool pads_nothing(const Graph& graph, const Node& node) {
  const auto pads = node.since_version < 11 ? numbers_of_attribute(node, "pads")
                                            : numbers_of_input(graph, node, 1);
  return pads && all_equal(*pads, 0);
}

// Starts, ends, axes and steps, from the attributes or inputs of the node's version.
std::optional<Numbers> slice_numbers(const Graph& graph, const Node& node, size_t index) {
  constexpr std::string_view kAttributes[] = {"", "starts", "ends", "axes", "steps"};
  return node.since_version < 10 ? numbers_of_attribute(node, kAttributes[index])
                                 : numbers_of_input(graph, node, index);
}

bool slices_all(const Graph& graph, const Node& node) {
  const auto starts = slice_numbers(graph, node, 1);
  const auto ends = slice_numbers(graph, node, 2);
  auto axes = slice_numbers(graph, node, 3);
  const auto steps = slice_numbers(graph, node, 4);
  const bool hides_axes = !axes && has_input(node, 3);
  const bool hides_steps = !steps && has_input(node, 4);
  const Shape* shape = shape_of_input(graph, node);
  if (!starts || !ends || hides_axes || hides_steps || shape == nullptr) return false;
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<int64_t>(i));
  }
  if (ends->size() != starts->size() || axes->size() != starts->size()) return false;
  if (!all_equal(*starts, 0) || (steps && !all_equal(*steps, 1))) return false;
  const auto rank = static_cast<int64_t>(shape->size());
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    if (axis < 0 || axis >= rank) return false;
    const int64_t extent = (*shape)[static_cast<size_t>(axis)];
    const int64_t needed =
        graph::is_static_dim(extent) ? extent : std::numeric_limits<int64_t>::max();
    if ((*ends)[i] < needed) return false;
  }
  return true;
}

bool expands_nothing(const Graph& graph, const Node& node) {
  const Shape* shape = shape_of_input(graph, node);
  const auto wanted = numbers_of_input(graph, node, 1);
  if (shape == nullptr || !wanted || wanted->size() > shape->size()) return false;
  const size_t skipped = shape->size() - wanted->size();
  for (size_t i = 0; i < wanted->size(); ++i) {
    if ((*wanted)[i] != 1 && (*wanted)[i] != (*shape)[i + skipped]) return false;
  }
  return true;
}

bool tiles_once(const Graph& graph, const Node& node) {
  const auto repeats = node.since_version < 6 ? std::nullopt : numbers_of_input(graph, node, 1);
  return repeats && all_equal(*repeats, 1);
}

struct Entry {
  Pass pass;
  IdentityRule rule;
};

const Entry* find_entry(std::string_view op_type) {
  static const std::unordered_map<std::string_view, Entry> entries = {
      {"Identity", {Pass::kEliminateIdentity, &always}},
      {"Concat", {Pass::kEliminateIdentity, &of_one}},
      {"Sum", {Pass::kEliminateIdentity, &of_one}},
      {"Max", {Pass::kEliminateIdentity, &of_one}},
      {"Min", {Pass::kEliminateIdentity, &of_one}},
      {"Mean", {Pass::kEliminateIdentity, &of_one}},
      {"Dropout", {Pass::kEliminateDropout, &infers}},
      {"Cast", {Pass::kEliminateCast, &casts_to_itself}},
      {"CastLike", {Pass::kEliminateCast, &casts_to_itself}},
      {"Reshape", {Pass::kEliminateReshape, &reshapes_to_itself}},
      {"Flatten", {Pass::kEliminateReshape, &flattens_matrix}},
      {"Squeeze", {Pass::kEliminateReshape, &squeezes_nothing}},
      {"Transpose", {Pass::kEliminateTranspose, &moves_no_axis}},
      {"Pad", {Pass::kEliminatePad, &pads_nothing}},
      {"Slice", {Pass::kEliminateSlice, &slices_all}},
      {"Expand", {Pass::kEliminateExpand, &expands_nothing}},
      {"Tile", {Pass::kEliminateExpand, &tiles_once}},
  };
  const auto found = entries.find(op_type);
  return found == entries.end() ? nullptr : &found->second;
}

bool is_used(const Graph& graph, ValueId id) {
  return id != kNoValue &&
         (!graph.values[id].consumers.empty() || graph.values[id].is_graph_output);
}

}  // namespace

bool trains(const Graph& graph, const Node& node) {
  if (node.op_type != "Dropout") return false;
  if (node.since_version < 7) return node.integer("is_test").value_or(0) == 0;
  if (!has_input(node, 2)) return false;
  const Tensor* mode = graph.constant(node.inputs[2]);
  return !mode || mode->data.bytes.empty() || mode->data.bytes[0] != std::byte{0};
}

std::optional<Pass> identity_pass(const Graph& graph, graph::NodeId id) {
  const Node& node = graph.nodes[id];
  const Entry* entry = node.domain.empty() ? find_entry(node.op_type) : nullptr;
  if (entry == nullptr || !has_input(node, 0) || node.outputs.empty()) return std::nullopt;
  if (node.outputs[0] == kNoValue) return std::nullopt;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (is_used(graph, node.outputs[i])) return std::nullopt;
  }
  return entry->rule(graph, node) ? std::optional(entry->pass) : std::nullopt;
}

}  // namespace ephost::optimize
