// Fusion to operators on integers: they replace groups of nodes that compute in float between
// DequantizeLinear and QuantizeLinear:
//
//   DequantizeLinear(s) -> Conv   -> QuantizeLinear  becomes  QLinearConv
//   DequantizeLinear(s) -> MatMul -> QuantizeLinear  becomes  QLinearMatMul
//   DequantizeLinear(s) -> Add    -> QuantizeLinear  becomes  QLinearAdd of com.microsoft
//   DequantizeLinear -> Reshape -> QuantizeLinear  becomes  Reshape, if both quantise alike;
//                       likewise Flatten, Squeeze, Unsqueeze, Transpose and MaxPool
//
// Results stay the same, except that an element of QLinearConv or QLinearMatMul that lies between
// two integers may be rounded to the other one: sums of integers are exact, sums in float are not.
// The caller says which nodes may change and which operators exist.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "host/graph/graph.h"
#include "host/optimize/function_inlining.h"

namespace ephost::optimize {

struct QuantizedOperators {
  // Whether the node may be replaced and removed.
  std::function<bool(graph::NodeId)> is_free;
  // Whether there is a kernel for the node, which is not part of the graph; its values are.
  std::function<bool(const graph::Node&)> has_kernel;
  int64_t opset = 0;  // the version of ai.onnx that the model imports
};

// Whether the node is of that operator of ai.onnx, as the opset of the model defines it.
[[nodiscard]] bool is_standard(const graph::Node& node, std::string_view op_type);

// Replaces groups in one level of the graph, which must be connected and sorted, and stays so.
// Every scale and zero point must be a constant, with one scale for each tensor, or one for each
// output channel or column of the weights. A node with other readers stays for these.
//
// Ids do not change: each new node takes the place of its QuantizeLinear, and nodes that are not
// needed any more lose their inputs and outputs (see remove_bare_nodes). Values that are added get
// names from `names`. Returns the ids of the new nodes, ascending.
std::vector<graph::NodeId> form_quantized_operators(graph::Graph& graph,
                                                    const QuantizedOperators& options,
                                                    UniqueNames& names);

}  // namespace ephost::optimize
