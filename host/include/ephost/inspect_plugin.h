// inspect_plugin: loads one plugin and describes it: devices, options, kernels, operators that it
// defines.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/callbacks.h>
#include <ephost/detail/records/plugin.h>
#include <ephost/environment.h>
#include <ephost/status.h>
#include <ephost/types/plugin_description.h>
#include <ephost/types/session_options.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ephost {

namespace detail {

// The record points into both.
inline ephost_inspect_options record_of(const InspectOptions& options,
                                        const OptionViews& session_entries) {
  ephost_inspect_options record = {};
  record.struct_size = sizeof(record);
  record.isolation = options.isolation.c_str();
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
  const std::chrono::nanoseconds limit =
      options.call_limit < kLongest ? options.call_limit : kLongest;
  record.call_limit_ns = static_cast<uint64_t>(limit.count());
  record.refresh = options.refresh ? 1 : 0;
  record.session_entries = session_entries.data();
  record.session_entry_count = session_entries.size();
  return record;
}

}  // namespace detail

inline namespace v1 {

// `plugin` is a provider's type name, its short name, or the path of a manifest. Of several
// versions, the highest that works is loaded; a warning in the log names those that do not.
// NOT_FOUND if no plugin is called so, INVALID_ARGUMENT for a file that is not a usable manifest,
// EP_FAIL and the like for a library that cannot be loaded. May be called from any thread.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                              const std::string& plugin) {
  return detail::take_report<PluginDescription>([&](const ephost_plugin_description** report) {
    return detail::api().plugin->inspect(environment.handle(), plugin.c_str(), report);
  });
}

// Describes the plugin that a session with this request would use; its provider is created with the
// request's options and devices. The name is not a path. Errors are those above, and
// INVALID_ARGUMENT for options or devices that the provider does not have.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                              const ProviderRequest& request) {
  const detail::RequestView given(request);
  return detail::take_report<PluginDescription>([&](const ephost_plugin_description** report) {
    return detail::api().plugin->inspect_request(environment.handle(), given.record(), report);
  });
}

// As above, but in a process of its own unless the options say otherwise, so that a plugin that
// crashes or hangs is an error, EP_FAIL, that says in which call. What a plugin offers is recorded
// for the user and used again until its files, the devices of the machine or the environment
// change, for a day at most. INVALID_ARGUMENT for another isolation or session entry, and for a
// layer.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                              const std::string& plugin,
                                                              const InspectOptions& options) {
  const detail::OptionViews entries(options.session_entries);
  const ephost_inspect_options record = detail::record_of(options, entries);
  return detail::take_report<PluginDescription>([&](const ephost_plugin_description** report) {
    return detail::api().plugin->inspect_with_options(environment.handle(), plugin.c_str(), nullptr,
                                                      &record, report);
  });
}

// The plugin of a request in a process of its own; it is always run.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<PluginDescription> inspect_plugin(const Environment& environment,
                                                              const ProviderRequest& request,
                                                              const InspectOptions& options) {
  const detail::RequestView given(request);
  const detail::OptionViews entries(options.session_entries);
  const ephost_inspect_options record = detail::record_of(options, entries);
  return detail::take_report<PluginDescription>([&](const ephost_plugin_description** report) {
    return detail::api().plugin->inspect_with_options(environment.handle(), nullptr, given.record(),
                                                      &record, report);
  });
}

}  // namespace v1
}  // namespace ephost
