// Names of the graphs inside a model, for messages and reports.
#pragma once

#include <string>

#include "host/graph/graph.h"

namespace ephost::graph {

// Appends one step inwards: "if_1/then_branch", or "If#3/then_branch" if the node has no name. The
// step follows `around`, the path of the graph that contains the node, unless that is empty.
[[nodiscard]] std::string body_path(const std::string& around, const Graph& graph, NodeId node,
                                    const std::string& attribute);

// The path of `wanted`, a subgraph at any depth; empty if it is `graph` itself or not inside it.
[[nodiscard]] std::string path_of(const Graph& wanted, const Graph& graph);

}  // namespace ephost::graph
