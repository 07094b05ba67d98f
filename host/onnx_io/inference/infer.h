// Types and shapes of values, by the linked onnx's inference functions with data propagation. The
// importer runs it; passes that made something constant run it again.
#pragma once

#include <string>
#include <vector>

#include "host/base/cancellation.h"
#include "host/graph/graph.h"

namespace ephost::onnx_io {

// Refines Value::type in the graph and its subgraphs; a known element type, rank or static
// dimension stays. A node that cannot be inferred (unknown operator, newer opset, inconsistent
// shapes) leaves its outputs as they are and adds a note naming it. The graph must pass
// `check_graph`. Once it is cancelled, the rest stays as it is.
std::vector<std::string> infer_shapes(graph::Model& model, const Cancellation& cancellation = {});

}  // namespace ephost::onnx_io
