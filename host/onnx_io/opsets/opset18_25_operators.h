// What changed in which newer opset: a table to be read like onnx's change log. Internal to
// opset18_25.cc.
#pragma once

#include <onnx/defs/schema.h>

#include <span>
#include <string_view>

namespace ephost::onnx_io {

// Makes a definition from the operator's one before, which is null for a new operator. Name, domain
// and version are set by the caller.
using MakeDefinition = onnx::OpSchema (*)(const onnx::OpSchema* before);

// A version of an operator. Without `make` it only gained types, or says something more precisely.
struct Revision {
  int since;
  std::string_view op_type;
  MakeDefinition make = nullptr;
};

// Ordered by version.
[[nodiscard]] std::span<const Revision> newer_onnx_operators();
[[nodiscard]] std::span<const Revision> newer_ml_operators();

}  // namespace ephost::onnx_io
