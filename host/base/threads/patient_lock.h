// A lock on what another thread may hold for long, waited for until the work that needs it is to
// end.
#pragma once

#include <chrono>
#include <mutex>

namespace ephost {

// How long one waits before looking again whether the work is to end.
inline constexpr std::chrono::milliseconds kLockPause{2};

// Whether it is locked; if not, `is_over()` was true meanwhile.
template <class IsOver>
[[nodiscard]] bool lock_until_over(std::unique_lock<std::timed_mutex>& lock,
                                   const IsOver& is_over) {
  if (lock.try_lock()) return true;
  while (!lock.try_lock_for(kLockPause)) {
    if (is_over()) return false;
  }
  return true;
}

}  // namespace ephost
