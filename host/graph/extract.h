// Extraction of a set of nodes as a separate graph: a fused partition as its provider sees it, or a
// single node for the constant folder. The source graph does not change.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::graph {

struct Extraction {
  Graph graph;                           // connected, nodes in the source graph's order
  std::vector<NodeId> original_nodes;    // by NodeId of `graph`
  std::vector<ValueId> original_values;  // by ValueId of `graph`; names are kept
};

// Extracts `nodes` (in any order, without duplicates) of a connected, topologically sorted graph.
//
// The inputs are the values that the nodes use but do not produce, in order of first use (a node's
// inputs, then what its subgraphs capture), without constants. The initializers are the constants
// that the nodes use, and those that annotations of the values name; their data is shared.
// Constants that a node only keeps are left out. The outputs are the values that a node outside
// uses or that are outputs of `graph`, each once, in order of production.
//
// The cost depends on the nodes and on the consumers of their outputs, not on the size of `graph`.
[[nodiscard]] Extraction extract_subgraph(const Graph& graph, std::span<const NodeId> nodes,
                                          std::string name);

}  // namespace ephost::graph
