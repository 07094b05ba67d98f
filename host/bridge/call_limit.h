// A limit on how many calls of `compute` on a provider's computations overlap, whichever sessions
// and runs they belong to. Calls wait for their turn in no particular order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ephost::bridge {

// Thread-safe.
class CallLimit {
 public:
  // `most` calls at a time; 0 counts as 1.
  explicit CallLimit(uint32_t most) : is_alone_(most <= 1), free_(std::max(most, 1U)) {}
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;

  // The place of one call, from the time when there is one for it until this object is destroyed,
  // which happens in the same thread. Without a limit, there is a place at once.
  class Place {
   public:
    explicit Place(CallLimit* limit) : limit_(limit) {
      if (limit_ != nullptr) limit_->enter();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      if (limit_ != nullptr) limit_->leave();
    }

   private:
    CallLimit* const limit_;
  };

 private:
  void enter() {
    if (is_alone_) return mutex_.lock();
    std::unique_lock lock(mutex_);
    has_free_.wait(lock, [this] { return free_ != 0; });
    --free_;
  }
  void leave() {
    if (is_alone_) return mutex_.unlock();
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    has_free_.notify_one();
  }

  const bool is_alone_;
  std::mutex mutex_;  // held by the call itself where only one is allowed; otherwise guards `free_`
  std::condition_variable has_free_;
  uint32_t free_;
};

}  // namespace ephost::bridge
