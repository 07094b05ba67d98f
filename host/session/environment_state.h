// The state behind an Environment.
#pragma once

#include <ephost/environment.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/files/file_system.h"
#include "host/base/thread_pool.h"
#include "host/bridge/extensions/host_services.h"
#include "host/manifest/search.h"
#include "host/plugin/call_scope.h"
#include "host/plugin/call_watch.h"
#include "host/plugin/crash_handler.h"
#include "host/plugin/registry.h"
#include "host/session/session_group.h"

namespace ephost {

struct Environment::State {
  // Destroyed last.
  std::optional<plugin::CrashHandler> crash_handler;
  std::optional<plugin::CallWatch> call_watch;
  // Shared by all sessions: it has as many threads as the session that asks for most, however many
  // sessions there are.
  ThreadPool threads{[] { static_cast<void>(plugin::ThreadCalls::mine()); }};
  manifest::SearchResult search;
  plugin::Registry registry{plugin::HostOffer{.extensions = bridge::offered_extensions()}};
  session::SessionGroups groups;
  // Context models are written through it. Tests replace it by one that fails.
  const FileSystem* output_file_system = &posix_file_system();
  // What keys of the cache store state as the version of the host. Tests replace it by another one.
  std::string host_version;

  static Result<std::shared_ptr<State>> create(const EnvironmentOptions& options);
};

// Passes messages of plugins on to the host's log.
[[nodiscard]] bridge::PluginLog plugin_log();

}  // namespace ephost
