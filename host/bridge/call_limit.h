// A limit on how many calls of `compute` on a provider's computations overlap, whichever sessions
// and runs they belong to. Calls wait for their turn in no particular order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "host/base/function_ref.h"
#include "host/base/threads/patient_lock.h"

namespace ephost::bridge {

// Thread-safe.
class CallLimit {
 public:
  // Whether a call that waits is not needed any more. Asked by the thread that waits, every few
  // milliseconds; empty: never.
  using IsOver = FunctionRef<bool()>;

  // `most` calls at a time; 0 counts as 1.
  explicit CallLimit(uint32_t most) : is_alone_(most <= 1), free_(std::max(most, 1U)) {}
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;

  // The place of one call, from the time when there is one for it until this object is destroyed,
  // which happens in the same thread. Without a limit, there is a place at once.
  class Place {
   public:
    explicit Place(CallLimit* limit, const IsOver& is_over = {}) : limit_(limit) {
      if (limit_ != nullptr && !limit_->enter(is_over)) {
        limit_ = nullptr;
        has_it_ = false;
      }
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      if (limit_ != nullptr) limit_->leave();
    }
    // False only if `is_over` said that the call is not needed any more.
    [[nodiscard]] bool has_it() const { return has_it_; }

   private:
    CallLimit* limit_;
    bool has_it_ = true;
  };

 private:
  bool enter(const IsOver& is_over) {
    if (is_alone_) return enter_alone(is_over);
    std::unique_lock lock(mutex_);
    const auto is_free = [this] { return free_ != 0; };
    if (!is_over) {
      has_free_.wait(lock, is_free);
    } else {
      while (!has_free_.wait_for(lock, kLockPause, is_free)) {
        if (is_over()) return false;
      }
    }
    --free_;
    return true;
  }
  bool enter_alone(const IsOver& is_over) {
    if (!is_over) {
      alone_.lock();
      return true;
    }
    std::unique_lock lock(alone_, std::defer_lock);
    const bool is_entered = lock_until_over(lock, is_over);
    (void)lock.release();  // `leave` unlocks it
    return is_entered;
  }
  void leave() {
    if (is_alone_) return alone_.unlock();
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    has_free_.notify_one();
  }

  const bool is_alone_;
  std::timed_mutex alone_;  // held by the call itself where only one is allowed
  std::mutex mutex_;        // guards `free_` otherwise
  std::condition_variable has_free_;
  uint32_t free_;
};

}  // namespace ephost::bridge
