// The values of nodes that are constant by definition: `Constant`, and `Shape` and `Size` of values
// whose shape is static. For the folding pass.
#pragma once

#include <optional>

#include "host/graph/graph.h"

namespace ephost::optimize {

// The node's output; nothing if the node is none of these, holds no valid value, or has an input
// whose shape is open.
[[nodiscard]] std::optional<graph::Tensor> value_of_constant_node(const graph::Graph& graph,
                                                                  const graph::Node& node);

}  // namespace ephost::optimize
