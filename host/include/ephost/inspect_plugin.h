// Loads one plugin and describes it: devices, options, kernels, operators that it defines.
#pragma once

#include <ephost/detail/callbacks.h>
#include <ephost/detail/records/plugin.h>
#include <ephost/environment.h>
#include <ephost/status.h>
#include <ephost/types/plugin_description.h>
#include <ephost/types/session_options.h>

#include <string>

namespace ephost {
inline namespace v1 {

// `plugin` is a provider's type name, its short name, or the path of a manifest. Of several
// versions the highest that works is loaded; a warning in the log names those that do not.
// NOT_FOUND if no plugin is called so, INVALID_ARGUMENT for a file that is not a usable manifest,
// EP_FAIL and the like for a library that cannot be loaded. May be called from any thread.
[[nodiscard]] inline Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                              const std::string& plugin) {
  return detail::take_report<PluginDescription>([&](const ephost_plugin_description** report) {
    return detail::api().plugin->inspect(environment.handle(), plugin.c_str(), report);
  });
}

// Describes the plugin that a session with this request would use; its provider is created with the
// request's options and devices. The name is not a path. Errors are those above, and
// INVALID_ARGUMENT for options or devices that the provider does not have.
[[nodiscard]] inline Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                              const ProviderRequest& request) {
  const detail::RequestView given(request);
  return detail::take_report<PluginDescription>([&](const ephost_plugin_description** report) {
    return detail::api().plugin->inspect_request(environment.handle(), given.record(), report);
  });
}

}  // namespace v1
}  // namespace ephost
