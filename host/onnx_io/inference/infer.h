// Infers types and shapes of values with the linked onnx's inference functions, including data
// propagation. The importer calls it; passes that made values constant call it again.
#pragma once

#include <string>
#include <vector>

#include "host/base/cancellation.h"
#include "host/graph/graph.h"

namespace ephost::onnx_io {

// Refines Value::type in the graph and its subgraphs; a known element type, rank or static
// dimension stays. A node that cannot be inferred (unknown operator, newer opset, inconsistent
// shapes) leaves its outputs unchanged and adds a note naming it. The graph must pass
// `check_graph`. Once it is cancelled, the remaining types stay unchanged.
std::vector<std::string> infer_shapes(graph::Model& model, const Cancellation& cancellation = {});

}  // namespace ephost::onnx_io
