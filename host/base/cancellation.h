// A request to stop creating a session or compiling a model: a flag that the application sets, and
// a deadline. Long-running code takes one by value and polls it between small pieces of work. It
// may be polled from any thread.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "host/base/status_kinds.h"

namespace ephost {

class Cancellation {
 public:
  // A cancellation that is never requested.
  Cancellation() = default;
  // `flag` is borrowed and may be null. `max_seconds` limits the time from now on; 0 means no
  // limit.
  explicit Cancellation(const std::atomic<bool>* flag, uint32_t max_seconds = 0)
      : flag_(flag), max_seconds_(max_seconds) {
    if (max_seconds != 0) deadline_ = Clock::now() + std::chrono::seconds(max_seconds);
  }

  // Adds a deadline of another kind; the earlier one counts.
  void end_at(std::chrono::steady_clock::time_point deadline) {
    if (deadline_ && *deadline_ <= deadline) return;
    deadline_ = deadline;
    max_seconds_ = 0;
  }

  // Costs a few nanoseconds, and a few tens of nanoseconds with a deadline.
  [[nodiscard]] bool is_requested() const { return is_flag_set() || is_past_deadline(); }
  // Returns CANCELLED or DEADLINE_EXCEEDED with the reason once cancellation is requested.
  [[nodiscard]] Status check() const { return is_requested() ? reason() : Status::ok_status(); }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_flag_set() const {
    return flag_ != nullptr && flag_->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_past_deadline() const { return deadline_ && Clock::now() >= *deadline_; }
  [[nodiscard]] Status reason() const;

  const std::atomic<bool>* flag_ = nullptr;
  uint32_t max_seconds_ = 0;
  std::optional<Clock::time_point> deadline_;
};

}  // namespace ephost
