// The wish to end the creation of a session or a compilation: a flag that the application sets, and
// a deadline. Whatever can take long is given one by value and asks it between small pieces of its
// work. May be asked from any thread.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace ephost {

class Cancellation {
 public:
  // Is never requested.
  Cancellation() = default;
  // `flag` is borrowed and may be null. `max_seconds` from now on are allowed; 0: any number.
  explicit Cancellation(const std::atomic<bool>* flag, uint32_t max_seconds = 0)
      : flag_(flag), max_seconds_(max_seconds) {
    if (max_seconds != 0) deadline_ = Clock::now() + std::chrono::seconds(max_seconds);
  }

  // Costs a few nanoseconds, some ten with a deadline.
  [[nodiscard]] bool is_requested() const { return is_flag_set() || is_late(); }
  // MODEL_LOAD_CANCELED with the reason once it is requested.
  [[nodiscard]] Status check() const { return is_requested() ? reason() : Status::ok_status(); }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_flag_set() const {
    return flag_ != nullptr && flag_->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_late() const { return deadline_ && Clock::now() >= *deadline_; }
  [[nodiscard]] Status reason() const;

  const std::atomic<bool>* flag_ = nullptr;
  uint32_t max_seconds_ = 0;
  std::optional<Clock::time_point> deadline_;
};

}  // namespace ephost
