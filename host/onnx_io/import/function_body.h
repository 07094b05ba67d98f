// Import of the body of one function call as a graph: the attributes of the call are substituted,
// and omitted inputs are removed. Internal to model_functions.cc.
#pragma once

#include <ephost/status.h>

#include "host/graph/graph.h"
#include "host/onnx_io/import/function_table.h"

namespace ephost::onnx_io {

// `names` are the keys of `functions`. Errors as in FunctionLibrary::body_of; also throws what onnx
// throws if it cannot build a body for the node's attributes.
[[nodiscard]] Result<graph::FunctionBody> import_function_body(const FunctionTable& functions,
                                                               const FunctionNames& names,
                                                               const graph::Model& model,
                                                               const graph::Graph& graph,
                                                               graph::NodeId node);

}  // namespace ephost::onnx_io
