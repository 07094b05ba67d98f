// Symbolic dimensions of a graph become unknown ones. Internal to the importer of functions.
#pragma once

#include "host/graph/graph.h"

namespace ephost::onnx_io {

// In all types of the graph and its subgraphs.
void forget_symbols(graph::Graph& graph);

}  // namespace ephost::onnx_io
