// Application of the operators that plugins define to the nodes of a model, as the importer does
// with those of ONNX: it has no such definitions, because a session knows its plugins only once it
// has read the model. Called before types are inferred, and again when functions were inlined.
#pragma once

#include <ephost/status.h>

#include <string>
#include <vector>

#include "host/graph/graph.h"
#include "host/onnx_io/opsets/plugin_operators.h"

namespace ephost::onnx_io {

// Checks each node, in bodies too, whose operator a plugin defines, gives it the version of its
// definition, and adds the attributes with defaults that it omits. INVALID_GRAPH with node,
// operator, domain and plugin for one that does not conform: too few or too many inputs or outputs,
// an omitted one that is required, an attribute that is unknown, missing or of another kind, a
// deprecated operator, and an operator that is newer than the model's opset. Types are checked by
// the inference. Returns a note for each operator that is not defined in a domain that is. Applying
// it again changes nothing.
[[nodiscard]] Result<std::vector<std::string>> apply_plugin_operators(
    graph::Model& model, const PluginOperators& operators);

}  // namespace ephost::onnx_io
