// Kernels and operators of a plugin in the reports of commands.
#pragma once

#include <ephost/types/plugin_description.h>

#include <string>

#include "host/cli/report/json.h"

namespace ephost::cli {

[[nodiscard]] Json kernels_json(const PluginDescription& plugin);
[[nodiscard]] Json operators_json(const PluginDescription& plugin);

// Tables after an empty line, or a sentence on why there is none. Nothing for a plugin that defines
// no operators.
[[nodiscard]] std::string kernels_section(const PluginDescription& plugin);
[[nodiscard]] std::string operators_section(const PluginDescription& plugin);

}  // namespace ephost::cli
