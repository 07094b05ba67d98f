// Fusion to one operator of com.microsoft of a product of integers that is scaled to float,
// as dynamic quantisers write it:
//
//   Mul(Cast(MatMulInteger(a, b)), Mul(scale of a, scale of b))            becomes
//   Add(the same, bias)                                                    MatMulIntegerToFloat
//
// Results stay the same, up to the rounding of a sum and a bias that are added at once.
#pragma once

#include <vector>

#include "host/optimize/quantized_operators.h"

namespace ephost::optimize {

// Whether form_scaled_products could replace a group with this node.
[[nodiscard]] bool starts_scaled_product(const graph::Node& node);

// Replaces groups in one level of the graph, which must be connected and sorted, and stays so. A
// must have one scale and one zero point, B, a matrix, one of each or one for each column; the bias
// has an element for each column. No other node may read what is between these nodes.
//
// Ids do not change: each new node takes the place of the last node of its group, and nodes that
// are not needed any more lose their inputs and outputs (see remove_bare_nodes). Returns the ids of
// the new nodes, ascending.
std::vector<graph::NodeId> form_scaled_products(graph::Graph& graph,
                                                const QuantizedOperators& options);

}  // namespace ephost::optimize
