// The definitions of ai.onnx operators in the linked onnx, created one at a time. onnx's own
// registry creates all of them, in all versions, at the first query, which takes longer than
// creating the session of a model with a thousand nodes. Internal to opset18_25.cc.
#pragma once

#include <onnx/defs/schema.h>

#include <string_view>

namespace ephost::onnx_io {

// A version of an operator.
struct OnnxDefinition {
  std::string_view op_type;
  int since = 0;
  onnx::OpSchema (*make)() = nullptr;  // not finalised
};

// The newest definition of the operator that is not newer than `version`, or null.
[[nodiscard]] const OnnxDefinition* find_onnx_definition(std::string_view op_type, int version);

}  // namespace ephost::onnx_io
