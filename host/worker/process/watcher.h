// The thread that starts and watches all workers of the process. The kernel ends a worker together
// with the thread that has started it, which is why this one starts them. Private to this module.
#pragma once

#include <ephost/status.h>

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "host/base/files/file_descriptor.h"
#include "host/base/threads/task_threads.h"
#include "host/worker/process/output_lines.h"
#include "host/worker/process/worker_state.h"

namespace ephost::worker {

class Watcher {
 public:
  // The watcher of this process, started when it is first needed; it lives as long as it has an
  // owner.
  static Result<std::shared_ptr<Watcher>> of_process();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher();

  // Starts the worker's program with `socket` as kMainSocket, and watches it until it has ended.
  // FAIL, with the reason, if it does not start.
  [[nodiscard]] Status start(const std::shared_ptr<WorkerState>& worker,
                             const FileDescriptor& socket);
  // From now on, answers what the worker asks about new threads (resource_filter.h).
  void answer(const std::shared_ptr<WorkerState>& worker, FileDescriptor thread_requests);

 private:
  explicit Watcher(FileDescriptor wake_up);
  void run();
  void wake();
  // Those of `workers_` that have ended are reaped and removed.
  void reap();
  void report(std::function<void()> failure);
  void give_order(std::function<void()> order);

  const uint32_t generation_ = fork_generation();
  FileDescriptor wake_up_;  // an eventfd
  std::mutex mutex_;
  std::vector<std::function<void()>> orders_;
  bool is_over_ = false;
  struct Watched {
    std::shared_ptr<WorkerState> worker;
    FileDescriptor output;  // the end of a pipe, of which the worker has the other as its output
    OutputLines lines;
    FileDescriptor thread_requests = {};  // not open: it does not ask
  };
  // Shows what the worker has printed; after its end also an incomplete line.
  static void show_output(Watched& watched, bool has_ended);
  std::vector<Watched> workers_;  // of the thread alone
  std::thread thread_;

  // Callbacks on failures may wait for files; the ends of other workers are seen meanwhile.
  struct Reports {
    TaskThreads threads{1};
    TaskGroup group{threads};
  };
  std::unique_ptr<Reports> reports_ = std::make_unique<Reports>();
};

}  // namespace ephost::worker
