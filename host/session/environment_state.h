// What an Environment holds.
#pragma once

#include <ephost/environment.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "host/base/files/file_system.h"
#include "host/base/thread_pool.h"
#include "host/bridge/host_services.h"
#include "host/manifest/search.h"
#include "host/plugin/call_scope.h"
#include "host/plugin/call_watch.h"
#include "host/plugin/crash_handler.h"
#include "host/plugin/registry.h"
#include "host/session/session_group.h"

namespace ephost {

struct Environment::State {
  // Last to go.
  std::optional<plugin::CrashHandler> crash_handler;
  std::optional<plugin::CallWatch> call_watch;
  std::vector<std::filesystem::path> directories;
  // Shared by all sessions, so that many of them don't add up to more threads than the one that
  // asks for most.
  ThreadPool threads{[] { static_cast<void>(plugin::ThreadCalls::mine()); }};
  manifest::SearchResult search;
  plugin::Registry registry{plugin::HostOffer{.extensions = bridge::offered_extensions()}};
  session::SessionGroups groups;
  // Through which context models are written; tests put a failing one here.
  const FileSystem* output_file_system = &posix_file_system();

  static Result<std::shared_ptr<State>> create(const EnvironmentOptions& options);
};

// What plugins say goes to the host's log.
[[nodiscard]] bridge::PluginLog plugin_log();

}  // namespace ephost
