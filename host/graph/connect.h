// Connections of a graph, derived from its lists: the producer and the consumers of each value,
// which values are graph inputs and outputs, and what a node's subgraphs capture. The importer and
// every pass call it after they have changed nodes. It makes no decisions and checks nothing.
#pragma once

#include "host/graph/graph.h"

namespace ephost::graph {

// Recomputes Value::{producer, consumers, is_graph_input, is_graph_output} and
// Node::implicit_inputs in `graph` and all subgraphs. Ids must be in range (`check_graph` verifies
// that). If several nodes produce one value, the last one is recorded. Takes linear time.
void connect(Graph& graph);

}  // namespace ephost::graph
