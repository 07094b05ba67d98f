// The changes of each newer opset: a table to be read like onnx's change log. Internal to
// opset18_25.cc.
#pragma once

#include <onnx/defs/schema.h>

#include <span>
#include <string_view>

namespace ephost::onnx_io {

// Creates a definition from the operator's previous one, which is null for a new operator. The
// caller sets name, domain and version.
using MakeDefinition = onnx::OpSchema (*)(const onnx::OpSchema* before);

// A version of an operator. Without `make`, it only gained types or a more precise specification.
struct Revision {
  int since;
  std::string_view op_type;
  MakeDefinition make = nullptr;
};

// Sorted by version.
[[nodiscard]] std::span<const Revision> onnx_revisions_after_17();
[[nodiscard]] std::span<const Revision> ml_revisions_after_3();

}  // namespace ephost::onnx_io
