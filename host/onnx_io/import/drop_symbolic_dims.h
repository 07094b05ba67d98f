// Replacement of the symbolic dimensions of a graph by unknown ones. Internal to the importer of
// functions.
#pragma once

#include "host/graph/graph.h"

namespace ephost::onnx_io {

// Applies to all types of the graph and its subgraphs.
void drop_symbolic_dims(graph::Graph& graph);

}  // namespace ephost::onnx_io
