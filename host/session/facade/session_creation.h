// Creates sessions: the model that runs, with what it shares with its group, writes, and takes from
// the cache store.
#pragma once

#include <ephost/status.h>

#include <memory>

#include "host/session/config/session_options.h"
#include "host/session/environment/environment.h"
#include "host/session/facade/session.h"
#include "host/session/model/model_source.h"

namespace ephost::session {

// What Session::create does.
[[nodiscard]] Result<std::unique_ptr<Session::State>> create_session_state(
    const Environment& environment, const ModelSource& source, const SessionOptions& options);

}  // namespace ephost::session
