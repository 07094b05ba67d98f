// A builder of small graphs by name, for tests of host/graph and of the passes over it.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/graph/connect.h"
#include "host/graph/graph.h"
#include "host/graph/subgraphs.h"

namespace ephost::graph::testing {

template <class Element>
Tensor make_tensor(ElementType type, Shape shape, const std::vector<Element>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(Element));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return {.type = type, .shape = std::move(shape), .data = make_blob(std::move(bytes))};
}

inline Tensor int64_tensor(const std::vector<int64_t>& elements) {
  return make_tensor(ElementType::kInt64, {static_cast<int64_t>(elements.size())}, elements);
}

inline Tensor float_tensor(const std::vector<float>& elements) {
  return make_tensor(ElementType::kFloat, {static_cast<int64_t>(elements.size())}, elements);
}

inline ValueType tensor_type(ElementType element, std::optional<Shape> shape = std::nullopt) {
  return {.kind = ValueKind::kTensor, .element = element, .shape = std::move(shape)};
}

// A name refers to the value of that name, which is created on first use; "" is an omitted value.
class GraphBuilder {
 public:
  ValueId value(std::string_view name) {
    if (name.empty()) return kNoValue;
    const ValueId known = graph_.find_value(name);
    return known != kNoValue ? known : graph_.add_value({.name = std::string(name)});
  }

  GraphBuilder& input(std::string_view name, ValueType type = {}) {
    const ValueId id = value(name);
    graph_.values[id].type = std::move(type);
    graph_.inputs.push_back(id);
    return *this;
  }

  GraphBuilder& output(std::string_view name) {
    graph_.outputs.push_back(value(name));
    return *this;
  }

  GraphBuilder& constant(std::string_view name, Tensor tensor) {
    Value& target = graph_.values[value(name)];
    target.type = tensor_type(tensor.type, tensor.shape);
    target.initializer = static_cast<uint32_t>(graph_.initializers.size());
    graph_.initializers.push_back(std::move(tensor));
    return *this;
  }

  // The value `name` of this graph captures the value `outer` of the enclosing one.
  GraphBuilder& capture(std::string_view name, ValueId outer) {
    graph_.values[value(name)].outer = outer;
    return *this;
  }

  // The node gets the name of its first output.
  GraphBuilder& node(std::string_view op_type, std::initializer_list<std::string_view> inputs,
                     std::initializer_list<std::string_view> outputs) {
    Node added{.name = outputs.size() > 0 ? std::string(*outputs.begin()) : "",
               .op_type = std::string(op_type),
               .since_version = 1};
    for (const std::string_view name : inputs) added.inputs.push_back(value(name));
    for (const std::string_view name : outputs) added.outputs.push_back(value(name));
    graph_.add_node(std::move(added));
    return *this;
  }

  // Adds an attribute to the last node.
  GraphBuilder& attribute(std::string name, AttributeValue held) {
    graph_.nodes.back().attributes.push_back({std::move(name), std::move(held)});
    return *this;
  }

  GraphBuilder& subgraph(std::string name, Graph body) {
    return attribute(std::move(name), std::make_unique<Graph>(std::move(body)));
  }

  Graph build() {
    graph::connect(graph_);
    return std::move(graph_);
  }

 private:
  Graph graph_;
};

// The names of nodes or values, for comparing lists.
inline std::vector<std::string> node_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

inline std::vector<std::string> value_names(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) names.push_back(id == kNoValue ? "" : graph.values[id].name);
  return names;
}

// Sets each node's operator version from the model's opset, as the importer does.
inline Graph without_versions(Graph graph) {
  const auto forget = [](auto& self, Graph& level) -> void {
    for (Node& node : level.nodes) {
      node.since_version = 0;
      for_each_subgraph(node, [&](Graph& body) { self(self, body); });
    }
  };
  forget(forget, graph);
  return graph;
}

}  // namespace ephost::graph::testing
