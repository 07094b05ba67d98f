// First half of the allocation plan: the kind, readers, lifetime and size of each value. The second
// half (sharing.h) decides which values share buffers. Used inside host/plan only.
#pragma once

#include <ephost/status.h>

#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"

namespace ephost::plan {

// Returns one entry per value. Nothing is shared yet: `reused` is the value itself, or kNoValue for
// kNone. Returns INVALID_ARGUMENT if `plan` or `traits` does not match `graph`.
[[nodiscard]] Result<std::vector<ValuePlan>> find_lifetimes(const Graph& graph,
                                                            const ExecutionPlan& plan,
                                                            std::span<const StepTraits> traits);

}  // namespace ephost::plan
