// The logs that the messages of a session and of its runs belong to.
#pragma once

#include <ephost/types/session.h>

#include <optional>

#include "host/base/log.h"
#include "host/session/config/given_options.h"
#include "host/session/environment/environment_state.h"

namespace ephost::session {

[[nodiscard]] inline Log session_log(const EnvironmentState& environment,
                                     const GivenOptions& options) {
  const Log& log = environment.log;
  if (options.log_id.empty() && !options.log_level) return log;
  return log.with(options.log_level, options.log_id.empty() ? log.id() : options.log_id);
}

// The log of a run, in whose scope it is while this object lives. A run that sets nothing about
// its messages costs no allocation.
class RunLog {
 public:
  RunLog(const Log& session, const RunOptions& options) {
    if (options.tag.empty() && !options.log_severity_level) {
      scope_.emplace(session);
      return;
    }
    const std::string& id = session.id();
    const bool has_both = !id.empty() && !options.tag.empty();
    log_ = session.with(options.log_severity_level, id + (has_both ? ":" : "") + options.tag);
    scope_.emplace(log_);
  }

 private:
  Log log_;
  std::optional<LogScope> scope_;
};

}  // namespace ephost::session
