// The application's wish to end the creation of a session, or a compilation.
#pragma once

#include <ephost/session_options.h>
#include <ephost/status.h>

#include <atomic>

namespace ephost::session {

[[nodiscard]] inline bool is_cancelled(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

// MODEL_LOAD_CANCELED once the flag is set.
[[nodiscard]] inline Status check_not_cancelled(const std::atomic<bool>* flag) {
  if (!is_cancelled(flag)) return Status::ok_status();
  return Status(StatusCode::kModelLoadCanceled, "cancelled by the application");
}

}  // namespace ephost::session
