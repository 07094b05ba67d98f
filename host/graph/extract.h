// Takes a set of nodes out as a graph of its own: what a fused partition looks like to its
// provider, or a single node to the constant folder. The source graph stays as it is.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::graph {

struct Extraction {
  Graph graph;                           // connected, nodes in the order of the source graph
  std::vector<NodeId> original_nodes;    // by NodeId of `graph`
  std::vector<ValueId> original_values;  // by ValueId of `graph`; names are the same too
};

// `nodes` (any order, no duplicates) of a connected, topologically sorted graph.
//
// Inputs are the values that the nodes use and do not produce, in order of first use (a node's
// inputs, then what its subgraphs capture); constants are not among them. Initializers are the
// constants that they use; the data is shared. Outputs are the values that a node outside uses or
// that are outputs of `graph`, in order of production, each once.
//
// Costs what the nodes and the consumers of their outputs cost, whatever the size of `graph`.
[[nodiscard]] Extraction extract_subgraph(const Graph& graph, std::span<const NodeId> nodes,
                                          std::string name);

}  // namespace ephost::graph
