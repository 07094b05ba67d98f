// Percentile and median of samples.
#pragma once

#include <span>

namespace ephost::cli {

// The smallest sample that at least `fraction` (0 to 1) of all samples do not exceed; 0 without
// samples.
[[nodiscard]] double percentile(std::span<const double> samples, double fraction);

// The middle sample, or the mean of the two in the middle; 0 without samples.
[[nodiscard]] double median(std::span<const double> samples);

}  // namespace ephost::cli
