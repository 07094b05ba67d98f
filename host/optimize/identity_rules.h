// Rules that find nodes which return their first input unchanged. For the pass that removes them
// (identity_removal.h).
#pragma once

#include <optional>

#include "host/graph/graph.h"
#include "host/optimize/passes.h"

namespace ephost::optimize {

// Returns the pass that may replace the node's first output by its first input, because both are
// equal for all inputs of the graph; nothing if there is none, or if another output of the node is
// used. The decision depends on the node's attributes, constants and input types, never on what the
// model claims about the output.
[[nodiscard]] std::optional<Pass> identity_pass(const graph::Graph& graph, graph::NodeId node);

// Whether a Dropout node is in training mode: by an attribute that defaults to true before version
// 7, by an input since version 12.
[[nodiscard]] bool trains(const graph::Graph& graph, const graph::Node& node);

}  // namespace ephost::optimize
