// Runs of what a provider has compiled with the CPU provider alone: for the layer "validate", which
// compares the results. Called by the pipeline, for SessionLayers.
#pragma once

#include "host/layers/validate/runs/reference.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment.h"

namespace ephost::session {

// Each reference keeps the environment; the function does not. A reference has no layers and no
// cache store, writes no messages, is in no metrics, and uses as many threads as the session.
[[nodiscard]] layers::MakeReference cpu_references(EnvironmentState& environment,
                                                   const SessionConfig& config);

}  // namespace ephost::session
