// Times of the steps of a plan from the profile of a session (session.profile_file).
#pragma once

#include <ephost/plan_model.h>
#include <ephost/status.h>

#include <string_view>
#include <vector>

namespace ephost::cli {

// Seconds by step: the median over the runs that the profile has. INVALID_ARGUMENT for text that is
// not a profile, and for one that lacks a step of the plan, as that of another model or of other
// options does. `name` is what messages call the profile.
[[nodiscard]] Result<std::vector<double>> step_times(std::string_view profile,
                                                     std::string_view name, const GraphPlan& plan);

}  // namespace ephost::cli
