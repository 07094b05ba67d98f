// Removes nodes that give their input unchanged.
#pragma once

#include <cstdint>

#include "host/graph/graph.h"
#include "host/optimize/passes.h"

namespace ephost::optimize {

// Takes out what `identity_pass` finds and `passes` allow, in `graph` and all subgraphs: whoever
// used the output uses the input. Names of graph inputs and outputs stay: the producer of a graph
// output takes its name on, and where it cannot (the input is a graph input or output itself, a
// constant, or of the graph around) the node stays. So it does where a subgraph captures the value
// that would go. The graph must be connected and sorted and stays so. Returns the number of
// nodes removed.
uint64_t remove_identities(graph::Graph& graph, const PassSelection& passes);

}  // namespace ephost::optimize
