#include <string>
#include <vector>

#include "host/plan/check/checker.h"
#include "host/plan/check/step_uses.h"

namespace ephost::plan {
namespace {

Status wrong(const std::string& what) {
  return {StatusCode::kFail, "the dependencies of steps are wrong: " + what};
}

Result<KnownOrder> order_of(const StepDependencies& dependencies, uint32_t count) {
  std::vector<uint32_t> waits(count, 0);
  KnownOrder order(count, std::vector<bool>(count, false));
  for (uint32_t step = 0; step < count; ++step) {
    for (const uint32_t next : dependencies.successors_of(step)) {
      if (next <= step || next >= count) return wrong("a step waits for a later one");
      ++waits[next];
      for (uint32_t before = 0; before < step; ++before) {
        if (order[step][before]) order[next][before] = true;
      }
      order[next][step] = true;
    }
  }
  if (waits != dependencies.waits_for) return wrong("a step waits for too many or too few steps");
  return order;
}

}  // namespace

Status check_dependencies(const ExecutionPlan& plan, const AllocationPlan& allocation,
                          const MemoryPattern& pattern, const StepDependencies& dependencies,
                          std::span<const std::optional<uint64_t>> sizes) {
  EPHOST_ASSIGN_OR_RETURN(const KnownOrder order,
                          order_of(dependencies, static_cast<uint32_t>(plan.steps.size())));
  Status status = StepUses(plan, allocation, pattern, sizes).check(order);
  return status.ok() ? status : wrong(status.message());
}

}  // namespace ephost::plan
