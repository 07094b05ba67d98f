#include "tests/benchmarks/planning.h"

#include <algorithm>

#include "host/plan/memory_pattern.h"
#include "host/runtime/program.h"
#include "host/session/session_state.h"
#include "tests/benchmarks/measurement.h"

namespace ephost::benchmarks {
namespace {

Result<Sample> time_planning(const std::filesystem::path& model) {
  EPHOST_ASSIGN_OR_RETURN(const Session session, Session::create(environment(), model));
  const std::vector<Phase> phases = session.phases();
  const auto plan = std::ranges::find(phases, "plan", &Phase::name);
  if (plan == phases.end()) return Status(StatusCode::kFail, "the time of planning is unknown");
  Sample sample{plan->seconds, {}, {}};
  for (const plan::MemoryBlock& block : session.state().program->pattern().blocks) {
    sample.quantities[kPlannedPeak] += static_cast<double>(block.bytes);
    sample.quantities[kLowerBound] += static_cast<double>(block.lower_bound);
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
