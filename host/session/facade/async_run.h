// Runs that do not wait: Session::run_async.
#pragma once

#include <ephost/status.h>
#include <ephost/types/session.h>

#include <functional>
#include <string>
#include <vector>

#include "host/runtime/values/value.h"
#include "host/session/facade/session_state.h"

namespace ephost::session {

using RunCallback = std::function<void(Status status, std::vector<runtime::Value> outputs)>;

// What `run_async` is given.
struct AsyncRun {
  std::vector<runtime::NamedValue> inputs;
  std::vector<std::string> output_names;  // none: all outputs
  RunCallback callback;
  RunOptions options;
};

[[nodiscard]] Status start_run(SessionState& session, AsyncRun run);

}  // namespace ephost::session
