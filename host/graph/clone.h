// Deep copies of graphs. Node attributes own their subgraphs, so a Graph is movable but not
// copyable. Constant data is shared, never copied.
#pragma once

#include "host/graph/graph.h"

namespace ephost::graph {

[[nodiscard]] AttributeValue clone(const AttributeValue& value);
[[nodiscard]] Node clone(const Node& node);
[[nodiscard]] Graph clone(const Graph& graph);
[[nodiscard]] Model clone(const Model& model);

}  // namespace ephost::graph
