#include "tests/benchmarks/planning.h"

#include <algorithm>

#include "tests/benchmarks/sessions.h"

namespace ephost::benchmarks {
namespace {

Result<Sample> time_planning(const std::filesystem::path& model) {
  EPHOST_ASSIGN_OR_RETURN(const Session session, Session::create(environment(), model));
  const std::vector<Phase> phases = session.phases();
  const auto plan = std::ranges::find(phases, "plan", &Phase::name);
  if (plan == phases.end()) return Status(StatusCode::kFail, "the time of planning is unknown");
  Sample sample{plan->seconds, {}, {}};
  for (const PlannedMemory& planned : session.planned_memory()) {
    sample.quantities[kPlannedPeak] += static_cast<double>(planned.peak_bytes);
    sample.quantities[kLowerBound] += static_cast<double>(planned.lower_bound_bytes);
  }
  return sample;
}

}  // namespace

void register_planning(const std::string& name, const std::filesystem::path& model) {
  register_benchmark(name + std::string(kPlanning), [model](benchmark::State& state) {
    measure(state, [&] { return time_planning(model); });
  });
}

}  // namespace ephost::benchmarks
