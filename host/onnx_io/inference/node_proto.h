// A node of our graph as onnx's inference functions want to see it. Payloads stay out: a large
// tensor shows its type and shape only. Internal to shape inference; names the generated classes
// without including them.
#pragma once

#include <string>
#include <vector>

#include "host/graph/graph.h"

namespace onnx {
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace ephost::onnx_io {

// Fills `out`. Inputs and outputs get names of no meaning, empty where they are left out; graph
// attributes are empty graphs.
void export_node(const graph::Node& node, const std::vector<std::string>& symbols,
                 onnx::NodeProto& out);

// Type and shape, and the data if it is small enough to be a shape, an index or a scale; returns
// whether it was.
bool export_small_tensor(const graph::Tensor& tensor, onnx::TensorProto& out);

}  // namespace ephost::onnx_io
