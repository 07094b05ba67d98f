// The opsets after 17 of ai.onnx and 3 of ai.onnx.ml, where onnx 1.12 ends: the definitions of
// their operators, combined with onnx's own. A newer onnx defines some of these opsets itself; its
// definitions are used then. Internal to operator_schemas.cc.
#pragma once

#include <onnx/defs/schema.h>

#include <cstdint>
#include <string>

namespace ephost::onnx_io {

// The newest opset of the domain that is defined here; 0 for a domain without newer opsets.
[[nodiscard]] int newest_opset(const std::string& domain);

// onnx's definitions, and the newer ones of the opsets that the linked onnx does not have.
// Definitions are created on first use and stay; any thread
// may call this.
[[nodiscard]] const onnx::ISchemaRegistry& all_operators();

// Whether the definition comes from here and not from onnx. Its list of types is then incomplete:
// the linked onnx cannot name all tensor types of an input.
[[nodiscard]] bool is_host_definition(const onnx::OpSchema& schema);

}  // namespace ephost::onnx_io
