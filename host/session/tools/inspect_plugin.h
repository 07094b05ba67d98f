// The description of one plugin, which is loaded for it: devices, options, kernels, operators that
// it defines.
#pragma once

#include <ephost/status.h>
#include <ephost/types/plugin_description.h>
#include <ephost/types/session_options.h>

#include <string>

#include "host/session/config/session_config.h"
#include "host/session/environment/environment.h"

namespace ephost {

// `plugin` is a provider's type name, its short name, or the path of a manifest. Of several
// versions, the highest that works is loaded; a warning in the log names those that do not.
// NOT_FOUND if there is no such plugin, INVALID_ARGUMENT for a file that is not a usable manifest,
// EP_FAIL and the like for a library that cannot be loaded. May be called from any thread.
[[nodiscard]] Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                       const std::string& plugin);

// The plugin that a session with this request would use; its provider is created with the request's
// options and devices. The name is not a path. Errors are those above, and INVALID_ARGUMENT for
// options or devices that the provider does not have.
[[nodiscard]] Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                       const ProviderRequest& request);

// The same as a session with this configuration would load it.
[[nodiscard]] Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                       const ProviderRequest& request,
                                                       const session::SessionConfig& config);

// As above, but in a process of its own unless the options say otherwise, so that a plugin that
// crashes or hangs is an error, EP_FAIL, that says in which call. What a plugin offers is recorded
// for the user and used again until its files, the devices of the machine or the environment
// change, for a day at most. INVALID_ARGUMENT for another isolation or session entry, and for a
// layer.
[[nodiscard]] Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                       const std::string& plugin,
                                                       const InspectOptions& options);
[[nodiscard]] Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                       const ProviderRequest& request,
                                                       const InspectOptions& options);

}  // namespace ephost
