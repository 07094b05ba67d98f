// The signal that a run has to end before its last step. Read by the steps of the run and of the
// bodies in it, from any thread.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <string>
#include <utility>

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
  [[nodiscard]] bool is_cancelled() const { return control_.is_over(); }
  // As that of RunControl.
  [[nodiscard]] Status judge(Status failure) const { return control_.judge(std::move(failure)); }
  // The same, or a step failed that runs in parallel, here or in an enclosing run.
  [[nodiscard]] bool is_stopping() const {
    if (is_cancelled() || (executor_ != nullptr && executor_->is_stopping())) return true;
    return enclosing_ != nullptr && enclosing_->is_stopping();
  }

  // CANCELLED or DEADLINE_EXCEEDED, or FAIL if it is for the sake of another step; OK if nothing
  // has to stop.
  [[nodiscard]] Status why_stopping() const {
    Status end = control_.check();
    if (!end.ok() || !is_stopping()) return end;
    return {StatusCode::kFail, "another step of the run failed"};
  }

  // To be called when a provider fails. The name must live as long as the session.
  void note_failure(const std::string& provider) const {
    const std::string* none = nullptr;
    if (control_.failed_provider != nullptr) {
      control_.failed_provider->compare_exchange_strong(none, &provider);
    }
  }

 private:
  const ParallelExecutor* executor_ = nullptr;
  RunControl control_;
  const StopSignal* enclosing_ = nullptr;
};

}  // namespace ephost::runtime
