// Runs steps on several threads, each as soon as those that it waits for are done. It knows no
// frame: what a step does is the runner's business.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "host/base/thread_pool.h"
#include "host/plan/step_dependencies.h"

namespace ephost::runtime {

class StepRunner {
 public:
  // Called by several threads at once. `lane`: 0 for the thread that called `run`, else less than
  // the number of threads; two calls with the same one never overlap.
  [[nodiscard]] virtual Status run_step(uint32_t step, uint32_t lane) = 0;

 protected:
  ~StepRunner() = default;
};

// One run at a time; allocates nothing while it goes on.
class ParallelExecutor final : ThreadPool::Job {
 public:
  // Borrows the pool. Uses at most `threads` threads, the calling one included.
  ParallelExecutor(ThreadPool& pool, uint32_t threads);

  // Runs every step once, or none more after the first failure, which is returned.
  [[nodiscard]] Status run(const plan::StepDependencies& dependencies, StepRunner& runner);

  // True once a step failed: the others may end early.
  [[nodiscard]] bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kNoStep = UINT32_MAX;

  [[nodiscard]] bool wants_help() const noexcept override {
    return ready_count_ != 0 && !stopping_;
  }
  void help(uint32_t helper) noexcept override;

  void reset(const plan::StepDependencies& dependencies);
  void work_to_the_end();
  // Takes the first ready step of the plan's order. With the mutex held.
  [[nodiscard]] uint32_t take();
  // Runs a step, and then those that it made ready and that nobody else is given.
  void run_line(uint32_t step, uint32_t lane);
  // The step to go on with.
  [[nodiscard]] uint32_t finish(uint32_t step);
  void offer(uint32_t step);
  void fail(Status status);

  ThreadPool& pool_;
  uint32_t threads_;

  // Of the run that is going on.
  const plan::StepDependencies* dependencies_ = nullptr;
  StepRunner* runner_ = nullptr;
  std::unique_ptr<std::atomic<uint32_t>[]> waits_for_;  // by step: others that aren't done yet
  size_t capacity_ = 0;                                 // of `waits_for_`
  std::atomic<size_t> unfinished_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<uint32_t> ready_count_{0};

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool caller_waits_ = false;
  std::vector<uint32_t> ready_;  // a heap, the first step of the plan's order on top
  Status failure_;
};

}  // namespace ephost::runtime
