// Values of nodes that are constant by definition: `Constant`, and `Shape` and `Size` of values
// with static shapes. For the folding pass.
#pragma once

#include <optional>

#include "host/graph/graph.h"

namespace ephost::optimize {

// Returns the node's output, or nothing if the node is not one of these, holds no valid value, or
// has an input with a dynamic shape.
[[nodiscard]] std::optional<graph::Tensor> value_of_constant_node(const graph::Graph& graph,
                                                                  const graph::Node& node);

}  // namespace ephost::optimize
