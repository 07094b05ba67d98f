// The state of an environment, which its handle in the API, its sessions and they alone keep.
#pragma once

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
#include "host/trust/quarantine_policy.h"
#include "host/worker/tables/remote_plugin.h"

namespace ephost::session {

// To be called by each thread of a pool before it calls a plugin for the first time.
inline void prepare_thread() { static_cast<void>(plugin::ThreadCalls::mine()); }

// With the records of this user.
[[nodiscard]] plugin::Quarantine make_quarantine(const trust::QuarantinePolicy& policy);

struct EnvironmentState : std::enable_shared_from_this<EnvironmentState> {
  explicit EnvironmentState(ThreadPool::Options pool = {}, trust::QuarantinePolicy of_process = {})
      : threads(&prepare_thread, std::move(pool)),
        quarantine(of_process),
        registry(plugin::HostOffer{.extensions = bridge::offered_extensions()},
                 make_quarantine(of_process)) {}

  // Destroyed last.
  Log log;
  // Null unless EnvironmentOptions::metrics asks for it.
  std::unique_ptr<Metrics> metrics;
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
  PluginList plugins;
  SessionGroups groups;
  // For runs that do not wait.
  TaskThreads tasks{ThreadPool::default_thread_count()};
  // Context models are written through it. Tests replace it by one that fails.
  const FileSystem* output_file_system = &posix_file_system();
  // What keys of the cache store state as the version of the host. Tests replace it by another one.
  std::string host_version;
};

// Passes messages of plugins on to the log of the scope that a plugin's thread is in; those of its
// own threads go to the log of the scope that this is called in.
[[nodiscard]] bridge::PluginLog plugin_log();

}  // namespace ephost::session
