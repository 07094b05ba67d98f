// Which steps must wait for which where several threads run them: for what they read, and for the
// memory that they write. The order of the execution plan is one that obeys; any other that does
// gives the same results in the same memory.
//
// A step that writes waits for all earlier users of the memory it writes to. The alternative, to
// let values share memory only where one is an ancestor of the other, would allow more steps at
// once and need another, larger plan; these edges keep the sequential plan, its peak and its
// proofs. A view counts as written. Of memory only those bytes count that a value uses, where that
// is known before the run: steps that make the parts of one value may run at the same time.
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
  std::vector<uint32_t> waits_for;        // by step: how many others it waits for
  std::vector<uint32_t> first_successor;  // by step, and one past the end: index into `successors`
  std::vector<uint32_t> successors;       // steps that wait for it, ascending

  [[nodiscard]] std::span<const uint32_t> successors_of(uint32_t step) const {
    return {successors.data() + first_successor[step],
            first_successor[step + 1] - first_successor[step]};
  }
};

// `sizes` as given to plan_memory for the pattern.
[[nodiscard]] StepDependencies find_dependencies(
    const ExecutionPlan& execution, const AllocationPlan& allocation, const MemoryPattern& pattern,
    std::span<const std::optional<uint64_t>> sizes = {});

// True if two steps may ever run at the same time.
[[nodiscard]] bool has_parallel_steps(const StepDependencies& dependencies);

}  // namespace ephost::plan
