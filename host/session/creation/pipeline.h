// Takes a model through all stages, from a file to plans and computations that can run. Sessions go
// through all of them; compile_model and the commands stop at the stage that they need.
#pragma once

#include <ephost/status.h>

#include "host/session/config/given_options.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment.h"
#include "host/session/model/model_source.h"
#include "host/session/model/prepared_model.h"
#include "host/session/pipeline/hooks.h"

namespace ephost::session {

// Runs the stages up to and including `until`. If the model is replaced by another process while it
// is read, it is read again. MODEL_LOAD_CANCELED if the application's flag or the configured time
// limit ends the preparation.
[[nodiscard]] Result<PreparedModel> prepare_model(EnvironmentState& environment,
                                                  const ModelSource& source,
                                                  const SessionSettings& settings, Stage until,
                                                  const PipelineHooks& hooks = {});
// The same for a caller that has read nothing of the options yet.
[[nodiscard]] Result<PreparedModel> prepare_model(EnvironmentState& environment,
                                                  const ModelSource& source,
                                                  const GivenOptions& options, Stage until,
                                                  const PipelineHooks& hooks = {});

}  // namespace ephost::session
