// Names calls of plugins that take long, while they go on: whoever waits learns what for.
#pragma once

#include <chrono>
#include <vector>

namespace ephost::plugin {

// While it lives, a warning is logged for each call that has taken longer than `limit`, again at
// twice that time, and so on. The limit is the shortest of those that are alive in the process. One
// thread serves them all; it is started by the first call, and sleeps while there are none.
class CallWatch {
 public:
  // `limit` is more than 0.
  explicit CallWatch(std::chrono::milliseconds limit);
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;
  ~CallWatch();

 private:
  std::chrono::milliseconds limit_;
};

// Whether calls have to wake the watch; the beginning of a call looks at this.
[[nodiscard]] bool is_call_watch_asleep() noexcept;
void wake_call_watch() noexcept;

}  // namespace ephost::plugin
