// How long the steps of a plan took, according to the profile of a session (session.profile_file).
#pragma once

#include <ephost/plan_model.h>
#include <ephost/status.h>

#include <string_view>
#include <vector>

namespace ephost::cli {

// Seconds by step: the median over the runs that the profile has. INVALID_ARGUMENT for text that is
// no profile, and for one that lacks a step of the plan, as that of another model or of other
// options does. `name` is how messages speak of the profile.
[[nodiscard]] Result<std::vector<double>> step_times(std::string_view profile,
                                                     std::string_view name, const GraphPlan& plan);

}  // namespace ephost::cli
