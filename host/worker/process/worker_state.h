// State that a worker's object in the host, its channels and the watcher share. Private to this
// module.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/base/files/file_descriptor.h"
#include "host/base/memory/shared_memory.h"
#include "host/base/processes/forks.h"
#include "host/base/processes/process.h"
#include "host/worker/process/crash_report.h"
#include "host/worker/process/host_channel.h"
#include "host/worker/process/worker_process.h"

namespace ephost::worker {

class WorkerState : public std::enable_shared_from_this<WorkerState> {
 public:
  WorkerState(WorkerOptions options, FileDescriptor socket, SharedMemory report);

  [[nodiscard]] const WorkerOptions& options() const { return options_; }
  [[nodiscard]] const FileDescriptor& socket() const { return socket_; }
  [[nodiscard]] bool is_of_this_process() const { return generation_ == fork_generation(); }

  // By the watcher's thread: once when it has started the process, and once when it has reaped it.
  void set_started(ProcessId pid, FileDescriptor process);
  // Returns the function that reports a failure, which may take a while; or nothing.
  [[nodiscard]] std::function<void()> set_ended(Ending ending);
  [[nodiscard]] ProcessId pid() const { return pid_; }
  [[nodiscard]] const FileDescriptor& process() const { return process_; }

  // Whether calls can still be made; costs a load.
  [[nodiscard]] bool is_usable() const { return !is_over_.load(std::memory_order_acquire); }
  // OK, or why calls fail: `the worker of "acme" died of SIGSEGV`.
  [[nodiscard]] Status status() const;
  // The same, but OK where the host has ended the worker, and in a process that was forked.
  [[nodiscard]] Status failure() const;
  [[nodiscard]] std::optional<Ending> ending() const;
  // The failure of a call whose channel does not work: waits a little until it is known how the
  // worker ended, or else ends it for the reason.
  [[nodiscard]] Status failure_after_hangup(
      const std::string& reason = "it closed its connection to the host");

  // The first reason counts.
  void kill(const std::string& reason);
  // Asks the worker to exit: it is not a failure any more that it ends.
  void dismiss();
  // Whether it has ended by then.
  [[nodiscard]] bool wait_until_ended(std::chrono::milliseconds longest);

  [[nodiscard]] Result<std::unique_ptr<HostChannel>> take_channel();
  void give_back(std::unique_ptr<HostChannel> channel);
  void drop_free_channels();
  void forget(HostChannel* channel);

  SandboxReport sandbox_report;  // constant after the start

 private:
  [[nodiscard]] Result<std::unique_ptr<HostChannel>> open_channel();
  [[nodiscard]] Status send_channel(const Message& message);
  [[nodiscard]] Status await_channel(const FileDescriptor& socket);
  [[nodiscard]] Status no_channel() const;
  [[nodiscard]] Status failure_locked() const;
  void explain_locked(Ending& ending) const;

  const WorkerOptions options_;
  const uint32_t generation_ = fork_generation();
  FileDescriptor socket_;
  const SharedMemory report_;
  const SharedMemoryUse shared_memory_use_;
  ProcessId pid_ = 0;
  FileDescriptor process_;  // a pidfd
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_dismissed_{false};
  std::atomic<bool> has_failed_{false};

  std::mutex opening_;  // of channels; before mutex_
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::string kill_reason_;
  std::optional<Ending> ending_;
  std::vector<HostChannel*> channels_;  // all
  std::vector<std::unique_ptr<HostChannel>> free_;
};

}  // namespace ephost::worker
