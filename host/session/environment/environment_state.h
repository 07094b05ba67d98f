// The state behind an Environment.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/files/file_system.h"
#include "host/base/log.h"
#include "host/base/threads/task_threads.h"
#include "host/base/threads/thread_pool.h"
#include "host/bridge/extensions/host_services.h"
#include "host/manifest/search.h"
#include "host/plugin/calls/call_scope.h"
#include "host/plugin/calls/call_watch.h"
#include "host/plugin/calls/crash_handler.h"
#include "host/plugin/registry.h"
#include "host/session/environment/environment.h"
#include "host/session/groups/session_groups.h"
#include "host/session/metrics/metrics.h"
#include "host/session/plugins/plugin_list.h"
#include "host/trust/own_files.h"
#include "host/trust/policy.h"
#include "host/trust/quarantine_policy.h"
#include "host/worker/tables/remote_plugin.h"

namespace ephost {

// To be called by each thread of a pool before it calls a plugin for the first time.
inline void prepare_thread() { static_cast<void>(plugin::ThreadCalls::mine()); }

namespace session {

// With the records of this user.
[[nodiscard]] plugin::Quarantine make_quarantine(const trust::QuarantinePolicy& policy);

}  // namespace session

struct Environment::State : std::enable_shared_from_this<Environment::State> {
  explicit State(ThreadPool::Options pool = {}, trust::QuarantinePolicy of_process = {})
      : threads(&prepare_thread, std::move(pool)),
        quarantine(of_process),
        registry(plugin::HostOffer{.extensions = bridge::offered_extensions()},
                 session::make_quarantine(of_process)) {}

  // The environment of this state.
  [[nodiscard]] Environment environment() { return Environment(shared_from_this()); }

  // Destroyed last.
  Log log;
  // Null unless EnvironmentOptions::metrics asks for it.
  std::unique_ptr<session::Metrics> metrics;
  std::optional<plugin::CrashHandler> crash_handler;
  std::optional<plugin::CallWatch> call_watch;
  // Shared by all sessions: it has as many threads as the session that asks for most, however many
  // sessions there are.
  ThreadPool threads;
  // For sessions that set nothing about their threads. The affinities are in `threads`.
  ThreadingOptions threading;
  const trust::QuarantinePolicy quarantine;  // of the process; sessions may be stricter
  plugin::Registry registry;
  worker::RemoteRegistry workers{plugin::HostOffer{.extensions = bridge::offered_extensions()}};
  // The least isolation of all plugins: what the application asks for, or the machine's policy.
  Isolation isolation = Isolation::kNone;
  session::PluginList plugins;
  session::SessionGroups groups;
  // For Session::run_async.
  TaskThreads tasks{ThreadPool::default_thread_count()};
  // Context models are written through it. Tests replace it by one that fails.
  const FileSystem* output_file_system = &posix_file_system();
  // What keys of the cache store state as the version of the host. Tests replace it by another one.
  std::string host_version;

  // Whose policy holds for the machine; replaced in tests.
  struct MachineFile {
    std::filesystem::path path = trust::machine_policy_file();
    trust::Owner owner = trust::Owner::kRoot;
  };
  static Result<Environment> create(const EnvironmentOptions& options,
                                    const MachineFile& machine_file);
};

// Passes messages of plugins on to the log of the scope that a plugin's thread is in; those of its
// own threads go to the log of the scope that this is called in.
[[nodiscard]] bridge::PluginLog plugin_log();

}  // namespace ephost
