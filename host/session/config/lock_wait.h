// Waiting of a session for a lock that another process holds.
#pragma once

#include <string>

#include "host/base/log.h"
#include "host/context/folder_lock.h"
#include "host/session/config/session_config.h"

namespace ephost::session {

[[nodiscard]] inline context::LockWait lock_wait(const SessionConfig& config,
                                                 const Cancellation& cancellation) {
  return {.timeout = config.context_lock_timeout,
          .cancellation = cancellation,
          .report = [](const std::string& message) { log_warning(message); }};
}

}  // namespace ephost::session
