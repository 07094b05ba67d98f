// The same model written down in another way.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>

#include "host/conformance/claims/asked.h"
#include "host/conformance/random/numbers/dice.h"

namespace ephost::conformance {

// Nothing for models with bodies or functions, whose names have scopes.
[[nodiscard]] bool can_be_varied(const onnx::ModelProto& model);

// With initializers and the entries of value_info in another order.
void shuffle_initializers(onnx::ModelProto& model, Dice& dice);
// With other names of nodes and values. Returns the old name of each value by the new one.
[[nodiscard]] Names rename(onnx::ModelProto& model, Dice& dice);

}  // namespace ephost::conformance
