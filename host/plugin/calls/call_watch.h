// A watch that names calls of plugins which take long, while they are running, so that users know
// what they are waiting for.
#pragma once

#include <chrono>
#include <vector>

namespace ephost::plugin {

// While it lives, a warning is logged for each call that has taken longer than `limit`, again at
// twice that time, and so on. The shortest limit of all watches in the process applies. One thread
// serves them all; the first call starts it, and it sleeps while there are no calls.
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

// Whether a beginning call has to wake the watch.
[[nodiscard]] bool is_call_watch_asleep() noexcept;
void wake_call_watch() noexcept;

}  // namespace ephost::plugin
