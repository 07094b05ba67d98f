// Topological order of a graph's nodes. Reads the connections that `connect` derives; captured
// values of subgraphs count as inputs.
#pragma once

#include <vector>

#include "ephost/status.h"
#include "host/graph/graph.h"

namespace ephost::graph {

// The nodes so that every value is produced before it is used. Of the nodes that are ready the one
// with the smallest id comes first: an order that is valid already stays as it is. INVALID_GRAPH
// names a node on a cycle.
[[nodiscard]] Result<std::vector<NodeId>> topological_order(const Graph& graph);

// Renumbers the nodes of `graph` and of all subgraphs into that order.
[[nodiscard]] Status sort_topologically(Graph& graph);

}  // namespace ephost::graph
