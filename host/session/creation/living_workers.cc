#include "host/session/creation/living_workers.h"

#include <ephost/types/session_options.h>

#include <algorithm>

#include "host/base/format.h"
#include "host/base/log.h"

namespace ephost::session {

Status LossPolicy::check(const std::vector<LostProvider>& dead) {
  for (const LostProvider& one : dead) {
    if (one.policy == OnCrash::kFallback) {
      if (one.name != kCpuProvider) continue;
      return Status(StatusCode::kEpFail,
                    formatted("{}; there is no fallback for {}, which every session has; use "
                              "session.on_crash.{}=restart",
                              one.reason.message(), one.name, one.short_name));
    }
    if (std::ranges::find(restarted_, one.name) != restarted_.end()) {
      return Status(StatusCode::kEpFail,
                    formatted("{}; it had been started again once before", one.reason.message()));
    }
    restarted_.push_back(one.name);
  }
  return Status::ok_status();
}

void note_losses(const std::vector<LostProvider>& dead, std::vector<LostProvider>& lost) {
  for (const LostProvider& one : dead) {
    if (one.policy == OnCrash::kRestart) {
      log_warning(formatted("{}; {} gets a new one", one.reason.message(), one.name));
      continue;
    }
    log_warning(
        formatted("{}; the session goes on without {}, and the next providers get its nodes",
                  one.reason.message(), one.name));
    if (std::ranges::find(lost, one.name, &LostProvider::name) == lost.end()) lost.push_back(one);
  }
}

}  // namespace ephost::session
