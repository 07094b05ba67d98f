// The signal that a run has to end before its last step. Read by the steps of the run and of the
// bodies in it, from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/runtime/frame/run_control.h"
#include "host/runtime/parallel_executor.h"

namespace ephost::runtime {

class StopSignal {
 public:
  // Steps that run in parallel also stop when one of them fails. Borrows the executor.
  void watch(const ParallelExecutor& executor) { executor_ = &executor; }

  void begin_run(const RunControl& control) { control_ = control; }
  // For a body, which ends with the run that it is part of.
  void begin_body(const StopSignal& enclosing) {
    control_ = enclosing.control_;
    enclosing_ = &enclosing;
  }
  void end_run() {
    control_ = {};
    enclosing_ = nullptr;
  }

  [[nodiscard]] uint64_t run_id() const { return control_.id; }
  // Whether the caller has a way to end the run early. Stays the same during a run.
  [[nodiscard]] bool may_be_cancelled() const {
    return control_.cancelled != nullptr || control_.deadline.has_value();
  }
  // Whether the caller has cancelled the run, or its deadline has passed.
  [[nodiscard]] bool is_cancelled() const {
    if (control_.cancelled != nullptr && control_.cancelled->load(std::memory_order_relaxed)) {
      return true;
    }
    return is_past_deadline();
  }
  [[nodiscard]] bool is_past_deadline() const {
    return control_.deadline && std::chrono::steady_clock::now() >= *control_.deadline;
  }
  // Which of the two it was, for messages.
  [[nodiscard]] std::string_view reason() const {
    const bool is_flag_set =
        control_.cancelled != nullptr && control_.cancelled->load(std::memory_order_relaxed);
    return is_flag_set ? "the run was cancelled" : "the deadline of the run passed";
  }
  // The same, or a step failed that runs in parallel, here or in an enclosing run.
  [[nodiscard]] bool is_stopping() const {
    if (is_cancelled() || (executor_ != nullptr && executor_->is_stopping())) return true;
    return enclosing_ != nullptr && enclosing_->is_stopping();
  }

  // To be called when a provider fails. The name must live as long as the session.
  void note_failure(const std::string& provider) const {
    const std::string* none = nullptr;
    if (control_.failed_provider != nullptr && !is_cancelled()) {
      control_.failed_provider->compare_exchange_strong(none, &provider);
    }
  }

 private:
  const ParallelExecutor* executor_ = nullptr;
  RunControl control_;
  const StopSignal* enclosing_ = nullptr;
};

}  // namespace ephost::runtime
