// Descriptions of plugins, made by loading them (<ephost/inspect_plugin.h>).
#pragma once

#include <ephost/status.h>
#include <ephost/types/plugin_description.h>
#include <ephost/types/session_options.h>

#include <string>

#include "host/session/config/session_config.h"
#include "host/session/environment/environment.h"

namespace ephost::session {

// By a name or a manifest; by what a session requests. In this process, or where the configuration
// of a session has plugins run.
[[nodiscard]] Result<PluginDescription> inspect_plugin(EnvironmentState& environment,
                                                       const std::string& plugin);
[[nodiscard]] Result<PluginDescription> inspect_plugin(EnvironmentState& environment,
                                                       const ProviderRequest& request);
[[nodiscard]] Result<PluginDescription> inspect_plugin(EnvironmentState& environment,
                                                       const ProviderRequest& request,
                                                       const SessionConfig& config);

// In a process of its own by default, with what was recorded of the plugin earlier.
[[nodiscard]] Result<PluginDescription> inspect_plugin(EnvironmentState& environment,
                                                       const std::string& plugin,
                                                       const InspectOptions& options);
[[nodiscard]] Result<PluginDescription> inspect_plugin(EnvironmentState& environment,
                                                       const ProviderRequest& request,
                                                       const InspectOptions& options);

}  // namespace ephost::session
