// Deep copies. Node attributes own their subgraphs, so a Graph moves but does not copy by itself.
// Constant data is shared, never copied.
#pragma once

#include "host/graph/graph.h"

namespace ephost::graph {

[[nodiscard]] AttributeValue clone(const AttributeValue& value);
[[nodiscard]] Node clone(const Node& node);
[[nodiscard]] Graph clone(const Graph& graph);
[[nodiscard]] Model clone(const Model& model);

}  // namespace ephost::graph
