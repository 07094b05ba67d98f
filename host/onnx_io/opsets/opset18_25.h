// The opsets that came after the linked onnx, which ends at 17 of ai.onnx and 3 of ai.onnx.ml:
// their operators as onnx's own definitions, beside those that onnx has. Internal to
// operator_schemas.cc.
#pragma once

#include <onnx/defs/schema.h>

#include <cstdint>
#include <string>

namespace ephost::onnx_io {

// The newest opset of the domain that is described here; 0 for a domain without newer ones.
[[nodiscard]] int newest_opset(const std::string& domain);

// onnx's definitions and the newer ones. Definitions are made when first asked for and stay; any
// thread may ask.
[[nodiscard]] const onnx::ISchemaRegistry& all_operators();

// Whether the definition isn't onnx's own. The types that it lists are then not complete: of an
// input that takes tensors, the linked onnx cannot name them all.
[[nodiscard]] bool is_newer(const onnx::OpSchema& schema);

}  // namespace ephost::onnx_io
