// Calls of the inference functions of operators that plugins define, and the answers to what they
// ask about the node (eph_inference).
#pragma once

#include <ephost/ext/operators.h>

#include <memory>

#include "host/onnx_io/opsets/plugin_operators.h"
#include "host/plugin/loaded_plugin.h"

namespace ephost::bridge {

// What calls `definition.infer`, which must not be null, with the plugin's own record. Keeps the
// plugin loaded. May be called from any thread.
[[nodiscard]] onnx_io::InferFunction inference_of(
    std::shared_ptr<const plugin::LoadedPlugin> plugin, const eph_operator_def& definition,
    const eph_operator_def* given);

}  // namespace ephost::bridge
