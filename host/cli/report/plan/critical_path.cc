#include "host/cli/report/plan/critical_path.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace ephost::cli {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// When something is done, and the step that was the last before.
struct Moment {
  double time = 0;
  uint32_t step = kNone;

  void be_after(const Moment& other) {
    if (other.step != kNone && (step == kNone || other.time > time)) *this = other;
  }
};

}  // namespace

std::vector<uint32_t> critical_path(std::span<const PlannedStep> steps,
                                    std::span<const double> seconds) {
  const auto is_enqueued = [](const PlannedStep& step) { return !step.stream.empty(); };
  if (std::ranges::none_of(steps, is_enqueued)) return {};
  std::vector<Moment> ends(steps.size());
  std::vector<uint32_t> before(steps.size(), kNone);
  std::map<std::string_view, Moment> streams;
  Moment host;
  Moment last;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const PlannedStep& step = steps[i];
    for (const uint32_t other : step.host_waits) host.be_after(ends[other]);
    Moment begin = host;
    if (is_enqueued(step)) {
      begin.be_after(streams[step.stream]);
      for (const uint32_t other : step.waits) begin.be_after(ends[other]);
    }
    before[i] = begin.step;
    ends[i] = {begin.time + (i < seconds.size() ? seconds[i] : 1), i};
    (is_enqueued(step) ? streams[step.stream] : host) = ends[i];
    last.be_after(ends[i]);
  }
  std::vector<uint32_t> path;
  for (uint32_t step = last.step; step != kNone; step = before[step]) path.push_back(step);
  std::ranges::reverse(path);
  return path;
}

}  // namespace ephost::cli
