// Fusion to MatMulNBits of com.microsoft: it replaces products with weights of few bits that have a
// scale for each block:
//
//   MatMul(a, DequantizeLinear(w, scales, zero points))  becomes  MatMulNBits(a, w', scales', ...)
//
// w' are the same integers, stored column by column, so that they are never dequantised as a whole.
// Results stay the same, up to the order in which terms are added.
#pragma once

#include <vector>

#include "host/optimize/quantized_operators.h"

namespace ephost::optimize {

// Replaces products in one level of the graph, which must be connected and sorted, and stays so.
// The weights are a constant matrix of 4 or 8 bits in blocks along the dimension that is added up,
// of a power of 2, at least 16; only such products read them.
//
// Ids do not change: each new node takes the place of its MatMul, and DequantizeLinear nodes that
// are not needed any more lose their inputs and outputs (see remove_bare_nodes). Constants that are
// added get names from `names`. Returns the ids of the new nodes, ascending.
std::vector<graph::NodeId> form_block_products(graph::Graph& graph,
                                               const QuantizedOperators& options,
                                               UniqueNames& names);

}  // namespace ephost::optimize
