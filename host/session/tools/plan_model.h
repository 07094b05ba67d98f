// The plan of a model as a session would make it, with a report.
#pragma once

#include <ephost/status.h>
#include <ephost/types/plan.h>

#include <filesystem>
#include <vector>

#include "host/session/config/session_options.h"
#include "host/session/environment/environment.h"

namespace ephost {

// Returns the model's own graph first, then each body before those inside it. Errors are those of
// creating a session. May be called from any thread.
[[nodiscard]] Result<std::vector<GraphPlan>> plan_model(const Environment& environment,
                                                        const std::filesystem::path& model,
                                                        const SessionOptions& options = {});

}  // namespace ephost
