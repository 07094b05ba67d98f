// A worker as the host sees it: a process that is started, watched, called through channels, and
// ended. It never outlives the host, even if that is killed, and it is always reaped. Safe from any
// thread.
//
// One thread for all workers of the process starts and watches them. In a process that was forked
// from the host's, workers of the parent cannot be called: calls fail and nothing is sent.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/processes/process.h"
#include "host/worker/process/host_channel.h"
#include "host/worker/process/limits.h"
#include "host/worker/process/sandbox.h"

namespace ephost::worker {

class Watcher;

// How a worker ended.
struct Ending {
  enum class Kind : uint8_t {
    kExited,     // value: the status
    kSignalled,  // value: the signal
    kKilled,     // by the host, for `reason`
    kUnknown,    // it was reaped elsewhere
  };
  Kind kind = Kind::kUnknown;
  int value = 0;
  std::string reason;
  std::string report;  // what its crash handler left, printable, at most a few lines; often empty
  // A file of the application was truncated while the worker had it mapped, and it died of that.
  bool is_applications = false;
};

struct WorkerOptions {
  std::filesystem::path program;       // of ephost-worker; absolute
  std::vector<std::string> arguments;  // after the program's name
  std::string name;                    // of the plugin or provider, for messages
  Limits limits;
  std::optional<SandboxRules> sandbox;  // none: no sandbox
  // From the start until the worker is ready to serve; then it is killed.
  std::chrono::milliseconds start_limit{30'000};
  // How long an ended worker may take to exit before it is killed.
  std::chrono::milliseconds grace{2'000};
  // Called once by a thread of the host if the worker ends although the host did not end it,
  // after the calls that wait for it were woken, and before the last worker's object is gone. It
  // may take its time, and must not throw. Empty: failures are not reported.
  std::function<void(const Ending&)> on_failure;
};

// "died of SIGSEGV at address 0x0 in compute of AcmeExecutionProvider for Conv "c1"", "exited with
// status 3", "was killed by SIGKILL", "was ended after 30 s, the limit of ...".
[[nodiscard]] std::string describe(const Ending& ending);

// A channel while it is in use; it goes back to its worker afterwards.
class ChannelLease {
 public:
  ChannelLease(std::shared_ptr<WorkerState> state, std::unique_ptr<HostChannel> channel);
  ChannelLease(ChannelLease&& other) noexcept;
  ChannelLease& operator=(ChannelLease&& other) noexcept;
  ~ChannelLease();

  [[nodiscard]] HostChannel* operator->() const { return channel_.get(); }
  [[nodiscard]] HostChannel& operator*() const { return *channel_; }

 private:
  std::shared_ptr<WorkerState> state_;
  std::unique_ptr<HostChannel> channel_;
};

class WorkerProcess {
 public:
  // Starts the program and waits until it is ready, with limits and sandbox applied. The failure
  // says how it ended, or why it could not start.
  static Result<std::unique_ptr<WorkerProcess>> start(WorkerOptions options);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  // Ends the worker and waits for it. No channel may be leased any more.
  ~WorkerProcess();

  // A free channel, or a new one, with a thread in the worker of its own. EP_FAIL once the worker
  // has ended.
  [[nodiscard]] Result<ChannelLease> channel();

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] ProcessId pid() const;
  [[nodiscard]] const SandboxReport& sandbox_report() const;
  // OK while it lives, afterwards EP_FAIL: `the worker of "acme" died of ...`.
  [[nodiscard]] Status status() const;
  // How it ended, once it has and was reaped.
  [[nodiscard]] std::optional<Ending> ending() const;

  // What outlives this object and says how the worker ended.
  [[nodiscard]] const std::shared_ptr<WorkerState>& state() const { return state_; }

  // Kills it; pending calls fail with the reason ("took longer than ..."). Does not wait.
  void kill(const std::string& reason);

 private:
  WorkerProcess(std::shared_ptr<WorkerState> state, std::shared_ptr<Watcher> watcher);

  std::shared_ptr<Watcher> watcher_;
  std::shared_ptr<WorkerState> state_;
};

}  // namespace ephost::worker
