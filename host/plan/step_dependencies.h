// The dependencies between steps that several threads run: on the producers of their inputs, and on
// the memory that they write. The order of the execution plan is one that respects them; every
// other such order gives the same results in the same memory.
//
// A step that writes waits for all earlier users of the memory it writes to. The alternative,
// letting values share memory only if one is an ancestor of the other, would allow more parallelism
// but needs a different, larger plan; these edges keep the sequential plan, its peak and its
// proofs. A view counts as written. Only the bytes that a value uses count, if they are known
// before the run: steps that produce the parts of one value may run at the same time.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"
#include "host/plan/memory_pattern.h"

namespace ephost::plan {

struct StepDependencies {
  std::vector<uint32_t> waits_for;        // by step: the number of steps it waits for
  std::vector<uint32_t> first_successor;  // by step, and one past the end: index into `successors`
  std::vector<uint32_t> successors;       // the steps that wait for it, ascending

  [[nodiscard]] std::span<const uint32_t> successors_of(uint32_t step) const {
    return {successors.data() + first_successor[step],
            first_successor[step + 1] - first_successor[step]};
  }
};

// `sizes` as given to plan_memory for the pattern.
[[nodiscard]] StepDependencies find_dependencies(
    const ExecutionPlan& execution, const AllocationPlan& allocation, const MemoryPattern& pattern,
    std::span<const std::optional<uint64_t>> sizes = {});

// Whether two steps may ever run at the same time.
[[nodiscard]] bool has_parallel_steps(const StepDependencies& dependencies);

}  // namespace ephost::plan
