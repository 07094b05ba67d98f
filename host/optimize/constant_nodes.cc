#include "host/optimize/constant_nodes.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/sparse.h"

namespace ephost::optimize {
namespace {

using graph::ElementType;
using graph::Node;
using graph::Shape;
using graph::Tensor;

template <class Element>
Tensor dense(ElementType type, Shape shape, const std::vector<Element>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(Element));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return {.type = type, .shape = std::move(shape), .data = graph::make_blob(std::move(bytes))};
}

template <class Element>
Tensor scalar(ElementType type, Element element) {
  return dense(type, {}, std::vector<Element>{element});
}

template <class Element>
Tensor list(ElementType type, const std::vector<Element>& elements) {
  return dense(type, {static_cast<int64_t>(elements.size())}, elements);
}

Tensor strings(Shape shape, std::vector<std::string> elements) {
  return {.type = ElementType::kString,
          .shape = std::move(shape),
          .strings = std::make_shared<const std::vector<std::string>>(std::move(elements))};
}

std::optional<Tensor> value_of_constant(const Node& node) {
  if (const auto* value = node.attribute("value")) {
    const auto* tensor = std::get_if<Tensor>(value);
    return tensor ? std::optional(*tensor) : std::nullopt;
  }
  if (const auto* value = node.attribute("sparse_value")) {
    const auto* sparse = std::get_if<graph::SparseTensor>(value);
    if (!sparse) return std::nullopt;
    // An invalid one stays a node, and fails when it is run.
    Result<Tensor> tensor = graph::densify(*sparse, "sparse constant");
    return tensor.ok() ? std::optional(std::move(tensor).value()) : std::nullopt;
  }
  if (const auto number = node.integer("value_int")) return scalar(ElementType::kInt64, *number);
  if (const auto text = node.string("value_string")) return strings({}, {std::string(*text)});
  if (const auto* value = node.attribute("value_float")) {
    const auto* number = std::get_if<float>(value);
    return number ? std::optional(scalar(ElementType::kFloat, *number)) : std::nullopt;
  }
  if (const auto* value = node.attribute("value_ints")) {
    const auto* numbers = std::get_if<std::vector<int64_t>>(value);
    return numbers ? std::optional(list(ElementType::kInt64, *numbers)) : std::nullopt;
  }
  if (const auto* value = node.attribute("value_floats")) {
    const auto* numbers = std::get_if<std::vector<float>>(value);
    return numbers ? std::optional(list(ElementType::kFloat, *numbers)) : std::nullopt;
  }
  if (const auto* value = node.attribute("value_strings")) {
    const auto* texts = std::get_if<std::vector<std::string>>(value);
    if (!texts) return std::nullopt;
    return strings({static_cast<int64_t>(texts->size())}, *texts);
  }
  return std::nullopt;
}

// The shape of the only input, if it is static.
const Shape* static_input_shape(const graph::Graph& graph, const Node& node) {
  if (node.inputs.size() != 1 || node.inputs[0] == graph::kNoValue) return nullptr;
  const graph::ValueType& type = graph.values[node.inputs[0]].type;
  const bool is_known =
      type.kind == graph::ValueKind::kTensor && type.shape && graph::is_static(*type.shape);
  return is_known ? &*type.shape : nullptr;
}

// An attribute of `Shape` (since version 15): negative values count from the end, and both are
// clamped.
int64_t clamped_axis(int64_t axis, int64_t rank) {
  return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
}

std::optional<Tensor> value_of_shape(const graph::Graph& graph, const Node& node) {
  const Shape* shape = static_input_shape(graph, node);
  if (!shape) return std::nullopt;
  const auto rank = static_cast<int64_t>(shape->size());
  const int64_t start = clamped_axis(node.integer("start").value_or(0), rank);
  const int64_t end = clamped_axis(node.integer("end").value_or(rank), rank);
  if (start >= end) return list<int64_t>(ElementType::kInt64, {});
  return list(ElementType::kInt64, Shape(shape->begin() + start, shape->begin() + end));
}

std::optional<Tensor> value_of_size(const graph::Graph& graph, const Node& node) {
  const Shape* shape = static_input_shape(graph, node);
  const auto count = shape ? graph::element_count(*shape) : std::nullopt;
  if (!count) return std::nullopt;
  return scalar(ElementType::kInt64, static_cast<int64_t>(*count));
}

}  // namespace

std::optional<Tensor> value_of_constant_node(const graph::Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.outputs.size() != 1) return std::nullopt;
  if (node.op_type == "Constant") return value_of_constant(node);
  if (node.op_type == "Shape") return value_of_shape(graph, node);
  if (node.op_type == "Size") return value_of_size(graph, node);
  return std::nullopt;
}

}  // namespace ephost::optimize
