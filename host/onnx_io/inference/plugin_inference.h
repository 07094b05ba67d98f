// Types of the outputs of nodes whose operators plugins define: from the type names of the
// definition, and from the plugin's inference function if it has one. Internal to shape inference.
#pragma once

#include <ephost/status.h>

#include <vector>

#include "host/graph/graph.h"
#include "host/onnx_io/import/value_types.h"
#include "host/onnx_io/opsets/plugin_operators.h"

namespace ephost::onnx_io {

// By output; the entry of an omitted one means nothing. `alone` has node 0 with its values and no
// other (see InferFunction); the node conforms to the definition. INVALID_GRAPH if the inputs have
// types that the definition does not allow, or with the reason of the inference function; EP_FAIL
// if that declares types that the definition does not allow.
[[nodiscard]] Result<std::vector<graph::ValueType>> infer_by_definition(
    const OperatorDefinition& definition, const graph::Graph& alone, const graph::Model& model,
    DimSymbols& symbols);

}  // namespace ephost::onnx_io
