// What cancels the creation of a session, or a compilation: the application's flag, and the time
// limit session.load_timeout_seconds, which starts now.
#pragma once

#include "host/base/cancellation.h"
#include "host/session/session_config.h"
#include "host/session/session_options.h"

namespace ephost::session {

[[nodiscard]] inline Cancellation cancellation_of(const SessionOptions& options,
                                                  const SessionConfig& config) {
  return Cancellation(options.load_cancellation_flag(), config.load_timeout_seconds);
}

}  // namespace ephost::session
