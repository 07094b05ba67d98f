// The plan of a model (<ephost/plan_model.h>).
#pragma once

#include <ephost/status.h>
#include <ephost/types/plan.h>

#include <filesystem>
#include <vector>

#include "host/session/config/given_options.h"
#include "host/session/environment/environment.h"

namespace ephost::session {

[[nodiscard]] Result<std::vector<GraphPlan>> plan_model(EnvironmentState& environment,
                                                        const std::filesystem::path& model,
                                                        const GivenOptions& options = {});

}  // namespace ephost::session
