// Conversion of a graph node to the form that onnx's inference functions expect. Payloads are
// omitted: of a large tensor, only type and shape are visible. Internal to shape inference;
// forward-declares the generated classes instead of including them.
#pragma once

#include <string>
#include <vector>

#include "host/graph/graph.h"

namespace onnx {
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace ephost::onnx_io {

// Fills `out`. Inputs and outputs get meaningless names, empty if omitted; graph attributes are
// empty graphs.
void export_node(const graph::Node& node, const std::vector<std::string>& symbols,
                 onnx::NodeProto& out);

// Writes type and shape, and the data if it is small enough to be a shape, an index or a scale;
// returns whether it was.
bool export_small_tensor(const graph::Tensor& tensor, onnx::TensorProto& out);

}  // namespace ephost::onnx_io
