// Removal of nodes that return their input unchanged.
#pragma once

#include <cstdint>

#include "host/graph/graph.h"
#include "host/optimize/passes.h"

namespace ephost::optimize {

// Removes the nodes that `identity_pass` finds and `passes` allows, in `graph` and all subgraphs:
// users of the output use the input instead. Names of graph inputs and outputs do not change: the
// producer of a graph output takes over its name. Where that is impossible (the input is itself a
// graph input or output, a constant, or captured) the node stays, and so it does if a subgraph
// captures the value that would be removed. A node also stays if `keeps` returns true for it, for
// the producer of its input, or for a reader of its output. The graph must be connected and sorted,
// and stays so. Returns the number of nodes removed.
uint64_t remove_identities(graph::Graph& graph, const PassSelection& passes,
                           const NodePredicate& keeps = {});

}  // namespace ephost::optimize
