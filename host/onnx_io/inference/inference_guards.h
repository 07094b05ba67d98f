// Keeps onnx's inference functions from what they don't survive: they trust that input types fit
// the operator and that attributes are sane, and divide or index before they check. Internal to
// shape inference; included by infer.cc alone.
#pragma once

#include <onnx/defs/schema.h>

#include "ephost/status.h"
#include "host/onnx_io/inference/inference_context.h"

namespace ephost::onnx_io {

// OK if the operator's inference function may be called. `node` must have passed the definition's
// own verification. INVALID_GRAPH with the reason otherwise.
[[nodiscard]] Status guard_inference(const onnx::OpSchema& schema, const onnx::NodeProto& node,
                                     const NodeFacts& facts);

}  // namespace ephost::onnx_io
