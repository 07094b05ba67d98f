// The nodes that carry a model's quantisation. For the passes that leave them as they are, and for
// the one that puts integer operators in their place.
#pragma once

#include "host/graph/graph.h"

namespace ephost::optimize {

// Whether the node is QuantizeLinear or DequantizeLinear, of ai.onnx or of com.microsoft.
[[nodiscard]] bool is_quantization(const graph::Node& node);

}  // namespace ephost::optimize
