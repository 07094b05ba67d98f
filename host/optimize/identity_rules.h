// Which nodes give their first input unchanged. For the pass that removes them
// (identity_removal.h).
#pragma once

#include <optional>

#include "host/graph/graph.h"
#include "host/optimize/passes.h"

namespace ephost::optimize {

// The pass that may put the node's first input in the place of its first output, as both are the
// same whatever the inputs of the graph are; nothing if there is none, or if somebody uses another
// output of the node. Follows from the node's attributes, constants and the types of its inputs,
// never from what the model claims of the output.
[[nodiscard]] std::optional<Pass> identity_pass(const graph::Graph& graph, graph::NodeId node);

// Whether a Dropout node is in training: by an attribute that defaults to it before version 7, by
// an input since version 12.
[[nodiscard]] bool trains(const graph::Graph& graph, const graph::Node& node);

}  // namespace ephost::optimize
