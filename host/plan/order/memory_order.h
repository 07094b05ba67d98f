// Orders steps so that little memory is live at once: the best of several orders, measured on the
// allocation plan that each leads to. Traits are needed for that, so that it comes after
// compilation, where plan_execution comes before. Pure and deterministic; effort is bounded by
// work, not by the clock.
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
  bool search = false;  // a beam search after the quick rules
  Cancellation cancellation = {};
};

struct MemoryOrder {
  AllocationPlan allocation;  // of this order
  // order[i]: which step of the given plan runs as the i-th.
  std::vector<uint32_t> order;
  std::string_view rule;  // how it was found, e.g. "given" or "depth first"
  // The largest sum of bytes that one step needs, of the given order and of this one. Where extents
  // are open they count as a small number.
  uint64_t given_bytes = 0;
  uint64_t bytes = 0;
};

// Never worse than the order given, at which it stays where nothing is gained. Open extents are
// tried with a small and a large number; an order must not be worse with either. `traits` has one
// entry a step. INVALID_ARGUMENT as in plan_allocation; MODEL_LOAD_CANCELED once that is requested.
[[nodiscard]] Result<MemoryOrder> order_for_memory(const Graph& graph, const ExecutionPlan& plan,
                                                   std::span<const StepTraits> traits,
                                                   const MemoryOrderOptions& options = {});

}  // namespace ephost::plan
