// Creates sessions: the model that runs, with what it shares with its group, writes, and takes from
// the cache store.
#pragma once

#include <ephost/status.h>

#include <memory>

#include "host/session/config/given_options.h"
#include "host/session/environment/environment.h"
#include "host/session/facade/session_state.h"
#include "host/session/model/model_source.h"

namespace ephost::session {

// Session::create.
[[nodiscard]] Result<std::unique_ptr<SessionState>> create_session(EnvironmentState& environment,
                                                                   const ModelSource& source,
                                                                   const GivenOptions& options);

}  // namespace ephost::session
