#include "host/graph/clone.h"

#include <type_traits>

namespace ephost::graph {
namespace {

using GraphPointer = std::unique_ptr<Graph>;

GraphPointer clone_pointer(const GraphPointer& graph) {
  return graph ? std::make_unique<Graph>(clone(*graph)) : nullptr;
}

}  // namespace

AttributeValue clone(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> AttributeValue {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, GraphPointer>) {
          return clone_pointer(held);
        } else if constexpr (std::is_same_v<Held, std::vector<GraphPointer>>) {
          Held copies;
          copies.reserve(held.size());
          for (const GraphPointer& graph : held) copies.push_back(clone_pointer(graph));
          return copies;
        } else {
          return held;
        }
      },
      value);
}

Node clone(const Node& node) {
  Node copy{.name = node.name,
            .op_type = node.op_type,
            .domain = node.domain,
            .overload = node.overload,
            .since_version = node.since_version,
            .is_of_other_opset = node.is_of_other_opset,
            .inputs = node.inputs,
            .outputs = node.outputs,
            .implicit_inputs = node.implicit_inputs,
            .kept_constants = node.kept_constants,
            .metadata = node.metadata};
  copy.attributes.reserve(node.attributes.size());
  for (const Attribute& attribute : node.attributes) {
    copy.attributes.push_back({.name = attribute.name, .value = clone(attribute.value)});
  }
  return copy;
}

Graph clone(const Graph& graph) {
  Graph copy{.name = graph.name,
             .doc = graph.doc,
             .values = graph.values,
             .inputs = graph.inputs,
             .outputs = graph.outputs,
             .initializers = graph.initializers,
             .annotations = graph.annotations};
  copy.nodes.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) copy.nodes.push_back(clone(node));
  return copy;
}

Model clone(const Model& model) {
  return {.graph = clone(model.graph),
          .ir_version = model.ir_version,
          .opset_imports = model.opset_imports,
          .producer_name = model.producer_name,
          .producer_version = model.producer_version,
          .domain = model.domain,
          .model_version = model.model_version,
          .doc = model.doc,
          .metadata = model.metadata,
          .symbols = model.symbols,
          .functions = model.functions};
}

}  // namespace ephost::graph
