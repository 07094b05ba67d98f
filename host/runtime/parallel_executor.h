// An executor of steps on several threads, each as soon as those that it waits for are done. What a
// step does is up to the runner.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "host/base/threads/thread_pool.h"
#include "host/plan/step_dependencies.h"

namespace ephost::runtime {

class StepRunner {
 public:
  // Called by several threads at once. `lane` is less than the number of threads, and 0 for the
  // thread that called `run`. Two calls with the same lane never overlap.
  [[nodiscard]] virtual Status run_step(uint32_t step, uint32_t lane) = 0;

 protected:
  ~StepRunner() = default;
};

// One run at a time. Allocates nothing during a run, except when a run has more steps than any
// before.
class ParallelExecutor final : ThreadPool::Job {
 public:
  // Borrows the pool. Uses at most `threads` threads, including the calling one.
  ParallelExecutor(ThreadPool& pool, uint32_t threads);

  // Runs every step once. After the first failure no further step starts, and that failure is
  // returned.
  [[nodiscard]] Status run(const plan::StepDependencies& dependencies, StepRunner& runner);

  // True once a step has failed; the others may end early.
  [[nodiscard]] bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool wants_help() const noexcept override {
    return ready_count_ != 0 && !stopping_;
  }
  void help(uint32_t helper) noexcept override;

  void reset(const plan::StepDependencies& dependencies);
  void work_to_the_end();
  // Takes the ready step that comes first in the plan's order; plan::kNoStep if none is ready. The
  // mutex must be held.
  [[nodiscard]] uint32_t take();
  // Runs a step, and then one of the steps that it made ready, and so on; offers the others to
  // other threads.
  void run_line(uint32_t step, uint32_t lane);
  // Marks the step as done and returns the next one for this thread, or plan::kNoStep.
  [[nodiscard]] uint32_t finish(uint32_t step);
  void offer(uint32_t step);
  void fail(Status status);

  ThreadPool& pool_;
  uint32_t threads_;

  // State of the current run.
  const plan::StepDependencies* dependencies_ = nullptr;
  StepRunner* runner_ = nullptr;
  std::unique_ptr<std::atomic<uint32_t>[]> waits_for_;  // by step: unfinished steps before it
  size_t capacity_ = 0;                                 // of `waits_for_`
  std::atomic<size_t> unfinished_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<uint32_t> ready_count_{0};

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool caller_waits_ = false;
  std::vector<uint32_t> ready_;  // a heap, the first step of the plan's order on top
  Status failure_;
};

}  // namespace ephost::runtime
