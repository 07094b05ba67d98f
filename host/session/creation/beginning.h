// The state of a model before it is read: what it has from the session's configuration, and what a
// specialisation shares with the model that it is one of.
#pragma once

#include "host/session/config/session_config.h"
#include "host/session/environment/environment_state.h"
#include "host/session/model/prepared_model.h"
#include "host/session/model/thread_use.h"
#include "host/session/pipeline/hooks.h"

namespace ephost::session {

// Borrows the cancellation flag of `settings` and the metrics of `environment`.
[[nodiscard]] PreparedModel begin_model(const EnvironmentState& environment,
                                        const SessionSettings& settings, const ThreadUse& threads,
                                        const PipelineHooks& hooks);

}  // namespace ephost::session
