// Whether a run has to end before its last step. Read by the steps of the run and of the bodies in
// it, from any thread.
#pragma once

#include <atomic>

#include "host/runtime/parallel_executor.h"

namespace ephost::runtime {

class StopSignal {
 public:
  // Steps that run in parallel also stop when one of them fails. Borrows the executor.
  void watch(const ParallelExecutor& executor) { executor_ = &executor; }

  // `cancelled` is the caller's flag, borrowed for the run; null if there is none.
  void begin_run(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }
  // For a body, which ends with the run that it is part of.
  void begin_body(const StopSignal& enclosing) {
    cancelled_ = enclosing.cancelled_;
    enclosing_ = &enclosing;
  }
  void end_run() {
    cancelled_ = nullptr;
    enclosing_ = nullptr;
  }

  // The caller's flag; null if there is none. Stays the same during a run.
  [[nodiscard]] const std::atomic<bool>* cancelled() const { return cancelled_; }
  // Whether the caller has cancelled the run.
  [[nodiscard]] bool is_cancelled() const {
    return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed);
  }
  // The same, or a step failed that runs in parallel, here or in an enclosing run.
  [[nodiscard]] bool is_stopping() const {
    if (is_cancelled() || (executor_ != nullptr && executor_->is_stopping())) return true;
    return enclosing_ != nullptr && enclosing_->is_stopping();
  }

 private:
  const ParallelExecutor* executor_ = nullptr;
  const std::atomic<bool>* cancelled_ = nullptr;
  const StopSignal* enclosing_ = nullptr;
};

}  // namespace ephost::runtime
