// Topological order of a graph's nodes. Reads the connections that `connect` derives; values that
// subgraphs capture count as inputs.
#pragma once

#include <ephost/status.h>

#include <vector>

#include "host/graph/graph.h"

namespace ephost::graph {

// Returns the nodes in an order in which every value is produced before it is used. Among the ready
// nodes the one with the smallest id comes first, so an order that is already valid does not
// change. Returns INVALID_GRAPH, naming a node on a cycle, if there is one.
[[nodiscard]] Result<std::vector<NodeId>> topological_order(const Graph& graph);

// Renumbers the nodes of `graph` and of all subgraphs into that order.
[[nodiscard]] Status sort_topologically(Graph& graph);

}  // namespace ephost::graph
