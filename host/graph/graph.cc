#include "host/graph/graph.h"

#include <algorithm>

#include "host/base/text.h"

namespace ephost::graph {
namespace {

// Operator names are identifiers in any well-formed file; anything else is quoted.
std::string operator_text(std::string_view op_type) {
  const bool plain = !op_type.empty() && std::all_of(op_type.begin(), op_type.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return plain && op_type.size() <= 100 ? std::string(op_type) : quote(op_type);
}

}  // namespace

const AttributeValue* Node::attribute(std::string_view attribute_name) const {
  for (const Attribute& candidate : attributes) {
    if (candidate.name == attribute_name) return &candidate.value;
  }
  return nullptr;
}

std::optional<int64_t> Node::integer(std::string_view attribute_name) const {
  const AttributeValue* found = attribute(attribute_name);
  const auto* number = found ? std::get_if<int64_t>(found) : nullptr;
  if (!number) return std::nullopt;
  return *number;
}

std::optional<std::string_view> Node::string(std::string_view attribute_name) const {
  const AttributeValue* found = attribute(attribute_name);
  if (!found) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(found)) return *text;
  if (const auto* blob = std::get_if<Blob>(found)) {
    const void* data = blob->bytes.data();
    return std::string_view(static_cast<const char*>(data), blob->bytes.size());
  }
  return std::nullopt;
}

const Graph* Node::subgraph(std::string_view attribute_name) const {
  const AttributeValue* found = attribute(attribute_name);
  const auto* graph = found ? std::get_if<std::unique_ptr<Graph>>(found) : nullptr;
  return graph ? graph->get() : nullptr;
}

ValueId Graph::add_value(Value value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size() - 1);
}

NodeId Graph::add_node(Node node) {
  nodes.push_back(std::move(node));
  return static_cast<NodeId>(nodes.size() - 1);
}

const Tensor* Graph::constant(ValueId value) const {
  if (value >= values.size() || !values[value].is_constant()) return nullptr;
  return &initializers[values[value].initializer];
}

ValueId Graph::find_value(std::string_view value_name) const {
  for (size_t id = 0; id < values.size(); ++id) {
    if (values[id].name == value_name) return static_cast<ValueId>(id);
  }
  return kNoValue;
}

std::string describe_node(const Graph& graph, NodeId node) {
  const Node& described = graph.nodes[node];
  std::string text = operator_text(described.op_type) + " node ";
  return text + (described.name.empty() ? "#" + std::to_string(node) : quote(described.name));
}

}  // namespace ephost::graph
