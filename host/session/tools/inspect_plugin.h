// Loads one plugin and describes it: devices, options, kernels, operators that it defines.
#pragma once

#include <ephost/status.h>
#include <ephost/types/plugin_description.h>

#include <string>

#include "host/session/environment.h"

namespace ephost {

// `plugin` is a provider's type name, its short name, or the path of a manifest. Of several
// versions the highest that works is loaded; a warning in the log names those that do not.
// NOT_FOUND if there is no such plugin, INVALID_ARGUMENT for a file that is not a usable manifest,
// EP_FAIL and the like for a library that cannot be loaded. May be called from any thread.
[[nodiscard]] Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                       const std::string& plugin);

}  // namespace ephost
