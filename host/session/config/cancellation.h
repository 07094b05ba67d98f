// The reasons to cancel the creation of a session, or a compilation: the application's flag, the
// time limit session.load_timeout_seconds, which starts now, and the deadline of a run that needs
// the result.
#pragma once

#include <chrono>
#include <optional>

#include "host/base/cancellation.h"
#include "host/session/config/session_config.h"

namespace ephost::session {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

[[nodiscard]] inline Cancellation cancellation_of(const SessionSettings& settings,
                                                  Deadline deadline = {}) {
  Cancellation cancellation(settings.options.cancelled, settings.config.load_timeout_seconds);
  if (deadline) cancellation.end_at(*deadline);
  return cancellation;
}

}  // namespace ephost::session
