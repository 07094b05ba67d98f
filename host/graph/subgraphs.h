// Traversal of the graphs in a node's attributes, for code that must treat a nested graph like its
// own.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::graph {

// Calls `visit` with each subgraph (Graph& or const Graph&) of the node, in attribute order, or
// with the subgraph and the attribute's name.
template <class NodeType, class Visitor>
void for_each_subgraph(NodeType& node, Visitor visit) {
  using GraphType = std::conditional_t<std::is_const_v<NodeType>, const Graph, Graph>;
  for (auto& attribute : node.attributes) {
    const auto visit_one = [&](const std::unique_ptr<Graph>& subgraph) {
      if (!subgraph) return;
      if constexpr (std::is_invocable_v<Visitor, GraphType&, const std::string&>) {
        visit(static_cast<GraphType&>(*subgraph), attribute.name);
      } else {
        visit(static_cast<GraphType&>(*subgraph));
      }
    };
    if (auto* single = std::get_if<std::unique_ptr<Graph>>(&attribute.value)) {
      visit_one(*single);
    } else if (auto* list = std::get_if<std::vector<std::unique_ptr<Graph>>>(&attribute.value)) {
      for (auto& subgraph : *list) visit_one(subgraph);
    }
  }
}

[[nodiscard]] bool has_subgraphs(const Node& node);

// The values of the enclosing graph that the node's subgraphs capture, ascending, without
// duplicates.
[[nodiscard]] std::vector<ValueId> captured_values(const Node& node);

// Replaces Value::outer in the node's subgraphs by `new_ids[outer]`, which must not be kNoValue.
void renumber_captures(Node& node, const std::vector<ValueId>& new_ids);

}  // namespace ephost::graph
