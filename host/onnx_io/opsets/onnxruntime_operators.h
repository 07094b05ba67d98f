// Operators that ONNX Runtime writes in domain ai.onnx when it saves an optimised model, although
// no opset of ONNX has them. Internal to opset18_25.cc.
#pragma once

#include <onnx/defs/schema.h>

#include <string_view>

namespace ephost::onnx_io {

// The definition, of version 1, or null for other operators. Created on first use; any thread may
// call this.
[[nodiscard]] const onnx::OpSchema* find_onnxruntime_operator(std::string_view op_type);

}  // namespace ephost::onnx_io
