// Derives what a graph's lists imply: who produces and consumes each value, which values are graph
// inputs and outputs, and what a node's subgraphs capture. The importer and every pass call it
// after they changed nodes; it decides nothing and checks nothing.
#pragma once

#include "host/graph/graph.h"

namespace ephost::graph {

// Recomputes Value::{producer, consumers, is_graph_input, is_graph_output} and
// Node::implicit_inputs, in `graph` and in all subgraphs. Ids must be in range (`check_graph` says
// whether they are). If several nodes claim one output, the last one is recorded. Linear time.
void connect(Graph& graph);

}  // namespace ephost::graph
