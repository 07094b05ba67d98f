#include "host/cli/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ephost::cli {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::ranges::sort(copy);
  return copy;
}

}  // namespace

double percentile(std::span<const double> samples, double fraction) {
  if (samples.empty()) return 0;
  const std::vector<double> ascending = sorted(samples);
  const double rank = std::ceil(fraction * static_cast<double>(ascending.size()));
  const auto index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return ascending[std::min(index, ascending.size() - 1)];
}

double median(std::span<const double> samples) {
  if (samples.empty()) return 0;
  const std::vector<double> ascending = sorted(samples);
  const size_t middle = ascending.size() / 2;
  if (ascending.size() % 2 == 1) return ascending[middle];
  return (ascending[middle - 1] + ascending[middle]) / 2;
}

}  // namespace ephost::cli
