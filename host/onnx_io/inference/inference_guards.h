// Guards of onnx's inference functions against input that they do not survive: they trust that
// input types match the operator and that attributes are valid, and divide or index before they
// check. Internal to shape inference; included by infer.cc alone.
#pragma once

#include <ephost/status.h>
#include <onnx/defs/schema.h>

#include "host/onnx_io/inference/inference_context.h"

namespace ephost::onnx_io {

// Returns OK if the operator's inference function may be called. `node` must have passed the
// definition's own verification. Otherwise returns INVALID_GRAPH with the reason.
[[nodiscard]] Status guard_inference(const onnx::OpSchema& schema, const onnx::NodeProto& node,
                                     const NodeFacts& facts);

}  // namespace ephost::onnx_io
