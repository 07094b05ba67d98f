// Order and memory of a model's values, planned for the CPU provider alone: how long that takes
// when a session is created, and how close the planned block is to the lower bound of all plans.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ephost::benchmarks {

// The name of a model's benchmark is the name of the model with this suffix.
inline constexpr std::string_view kPlanning = "/planning";
// Counters in bytes, including the workspaces of the kernels.
inline constexpr const char* kPlannedPeak = "planned_peak";
inline constexpr const char* kLowerBound = "lower_bound";

void register_planning(const std::string& name, const std::filesystem::path& model);

}  // namespace ephost::benchmarks
