// An order of steps for a low peak of live memory: the best of several orders, measured on the
// allocation plan that each leads to. As that needs traits, it runs after compilation, whereas
// plan_execution runs before. Pure and deterministic; effort is bounded by work, not by the clock.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "host/base/cancellation.h"
#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"

namespace ephost::plan {

struct MemoryOrderOptions {
  AllocationOptions allocation;
  bool search = false;  // also run a beam search after the quick rules
  Cancellation cancellation = {};
};

struct MemoryOrder {
  AllocationPlan allocation;  // for this order
  // order[i] is the step of the given plan that runs as the i-th.
  std::vector<uint32_t> order;
  std::string_view rule;  // how it was found, e.g. "given" or "depth first"
  // The peak of live bytes, for the given order and for this one. Dynamic extents count as a small
  // number.
  uint64_t given_bytes = 0;
  uint64_t bytes = 0;
};

// Returns an order that is never worse than the given one, and the given one if nothing is gained.
// Dynamic extents are evaluated as a small and as a large number; an order must not be worse with
// either. `traits` has one entry per step. Returns INVALID_ARGUMENT as plan_allocation does, and
// CANCELLED or DEADLINE_EXCEEDED once cancellation is requested.
[[nodiscard]] Result<MemoryOrder> order_for_memory(const Graph& graph, const ExecutionPlan& plan,
                                                   std::span<const StepTraits> traits,
                                                   const MemoryOrderOptions& options = {});

}  // namespace ephost::plan
