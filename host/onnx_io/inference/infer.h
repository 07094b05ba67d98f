// Inference of types and shapes of values with the linked onnx's inference functions, including
// data propagation. The importer calls it; passes that made values constant call it again.
#pragma once

#include <ephost/status.h>

#include <set>
#include <string>
#include <vector>

#include "host/base/cancellation.h"
#include "host/graph/graph.h"
#include "host/onnx_io/opsets/plugin_operators.h"

namespace ephost::onnx_io {

// In a set of the names of values whose shapes are not believed: those of all values.
inline const std::string kEveryShape;
[[nodiscard]] inline bool is_open_shape(const std::set<std::string>& open,
                                        const std::string& value) {
  return !open.empty() && (open.contains(value) || open.contains(kEveryShape));
}

// Refines Value::type in the graph and its subgraphs. Where the model declares something else, what
// is inferred wins, with a note. The shapes of values with a name in `open_shapes` are forgotten,
// except for what inputs and outputs of the model declare. A node that cannot be inferred (unknown
// operator, newer opset, inconsistent shapes) leaves its outputs unchanged and adds a note naming
// it. The graph must pass `check_graph`. Once it is cancelled, the remaining types stay unchanged.
std::vector<std::string> infer_shapes(graph::Model& model, const Cancellation& cancellation = {},
                                      const std::set<std::string>& open_shapes = {});

// The same with operators that plugins define, once they were applied to the nodes
// (import/plugin_operator_nodes.h). Returns the notes. A plugin is asked about the types of its own
// operators, so what it says is an error of the model where it contradicts the model: INVALID_GRAPH
// with node, operator, domain and plugin, also for inputs of a wrong type, and EP_FAIL if the
// plugin breaks its own definition.
[[nodiscard]] Result<std::vector<std::string>> infer_shapes(
    graph::Model& model, const PluginOperators& operators, const Cancellation& cancellation = {},
    const std::set<std::string>& open_shapes = {});

}  // namespace ephost::onnx_io
