// Of a list of measurements.
#pragma once

#include <span>

namespace ephost::cli {

// The smallest measurement that at least `fraction` (0 to 1) of all do not exceed; 0 of none.
[[nodiscard]] double percentile(std::span<const double> measurements, double fraction);

// The middle one, or the mean of the two in the middle; 0 of none.
[[nodiscard]] double median(std::span<const double> measurements);

}  // namespace ephost::cli
