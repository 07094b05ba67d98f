// First half of the allocation plan: what each value is, who reads it, how long it is needed, how
// large it is. Sharing of buffers is the other half (allocation_plan.cc). Used inside host/plan
// only.
#pragma once

#include <ephost/status.h>

#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"

namespace ephost::plan {

// One entry a value. Nothing is shared yet: `reused` is the value itself, or kNoValue for kNone.
// INVALID_ARGUMENT if `plan` or `traits` does not fit `graph`.
[[nodiscard]] Result<std::vector<ValuePlan>> find_lifetimes(const Graph& graph,
                                                            const ExecutionPlan& plan,
                                                            std::span<const StepTraits> traits);

}  // namespace ephost::plan
