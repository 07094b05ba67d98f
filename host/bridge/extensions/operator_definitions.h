// The operators that a plugin defines (ephost.operators/1), checked and copied. The session asks
// the plugins that it uses, once it knows that the model has nodes of other domains than ONNX's.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <vector>

#include "host/onnx_io/opsets/plugin_operators.h"
#include "host/plugin/loaded_plugin.h"

namespace ephost::bridge {

// Empty if the plugin does not offer the extension. The inference functions keep the plugin loaded.
// EP_FAIL if the plugin fails, or if a definition makes no sense: a null pointer, an absurd count
// or text, a domain of ONNX, a version below 1, two definitions of one version, a default of
// another kind. The message names plugin, operator and what is wrong.
[[nodiscard]] Result<std::vector<onnx_io::OperatorDefinition>> read_operators(
    const std::shared_ptr<const plugin::LoadedPlugin>& plugin);

}  // namespace ephost::bridge
