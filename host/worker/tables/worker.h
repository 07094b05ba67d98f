// A worker process that has loaded a plugin, and the calls that the host makes of it.
#pragma once

#include <ephost/ext/constants.h>
#include <ephost/ext/progress.h>
#include <ephost/ext/thread_pool.h>
#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <memory>
#include <string>
#include <utility>

#include "host/manifest/search.h"
#include "host/plugin/negotiate.h"
#include "host/worker/process/worker_process.h"
#include "host/worker/protocol/messages.pb.h"
#include "host/worker/tables/host_graphs.h"
#include "host/worker/tables/isolation.h"
#include "host/worker/tables/outgoing.h"
#include "host/worker/tables/remote_run.h"
#include "host/worker/transport/regions.h"

namespace ephost::worker {

// The host as a worker may ask for it.
struct HostTables {
  explicit HostTables(const eph_host* given);

  const eph_host* host = nullptr;
  const eph_progress_api* progress = nullptr;
  const eph_constants_api* constants = nullptr;
  const eph_thread_pool_api* threads = nullptr;
};

// What the callbacks of one call are about; what is null may not be asked for.
struct Subjects {
  const HostTables* host = nullptr;
  HostGraphs* graphs = nullptr;
  eph_context_writer* writer = nullptr;
  eph_claims* claims = nullptr;
  uint64_t node_count = 0;  // of the graph that the claims are about
};

// Safe from any thread.
class Worker {
 public:
  // Starts the process and loads the plugin there. The failure is that of loading, or says how the
  // process ended.
  static Result<std::shared_ptr<Worker>> start(const manifest::FoundPlugin& plugin,
                                               const plugin::HostOffer& offer,
                                               const IsolationOptions& options);

  [[nodiscard]] const wire::Loaded& loaded() const { return loaded_; }
  [[nodiscard]] WorkerProcess& process() const { return *process_; }
  [[nodiscard]] KnownRegions& regions() { return regions_; }
  [[nodiscard]] Status status() const { return process_->status(); }

  // Makes a call; `outgoing` is that of the request. A failure is that of the worker, as is an
  // answer that cannot be understood; what the plugin answered is in the answer.
  [[nodiscard]] Result<wire::Answer> call(wire::Request& request, Outgoing& outgoing,
                                          const Subjects& subjects = {});
  // The same by a channel whose staging memory has values of the call.
  [[nodiscard]] Result<wire::Answer> call_by(HostChannel& channel, wire::Request& request,
                                             Outgoing& outgoing, const Subjects& subjects);
  // `compute`: the code that the plugin returned, with its message in `error`.
  [[nodiscard]] Result<int32_t> compute(eph_run& run, const RunFacts& facts, void* state,
                                        const HostTables& host, eph_error* error);

 private:
  Worker(std::string name, std::unique_ptr<WorkerProcess> process, const IsolationOptions& options)
      : name_(std::move(name)), options_(options), process_(std::move(process)) {}
  [[nodiscard]] CallOptions options_for(uint32_t call) const;
  // Any thread of the plugin may log and report at any time, also while the host calls a function
  // that needs no provider. Then there is no `host`: the lines go to the log of the calling thread,
  // and the progress is that of nothing.
  void log(const wire::Callback& line, const HostTables* host) const;
  // False if it is something else.
  bool take_note(const wire::Callback& note, const HostTables* host) const;
  Status take_posted(const Message& message, const HostTables* host) const;
  // A failure of these breaks the protocol.
  Status answer_callback(const wire::Callback& callback, const Outgoing& outgoing,
                         const Subjects& subjects, RemoteRun* run, wire::Answer& out) const;
  Result<Message> on_callback(const Message& message, Outgoing& outgoing, const Subjects& subjects,
                              RemoteRun* run) const;
  static Result<wire::Answer> parse_answer(HostChannel& channel, const Message& message);

  const std::string name_;  // of the plugin
  const IsolationOptions options_;
  KnownRegions regions_;
  std::unique_ptr<WorkerProcess> process_;
  wire::Loaded loaded_;
};

}  // namespace ephost::worker
