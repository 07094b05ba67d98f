// Proves plans right, by other means than those that made them: each check simulates or sweeps and
// shares no code with the planner. Run by tests and, in builds with assertions, by the session
// after planning. A failure is a bug of the planner: FAIL, naming step and value.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <span>

#include "host/graph/graph.h"
#include "host/partition/partition.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"
#include "host/plan/memory_pattern.h"
#include "host/plan/step_dependencies.h"

namespace ephost::plan {

// Each node is run exactly once, by its owner; each step's slots are those of its node or
// partition, or copies of them; whatever a step reads is there before it, in the copy that it
// reads.
[[nodiscard]] Status check_execution(const Graph& graph,
                                     const partition::Partitioning& partitioning,
                                     const ExecutionPlan& plan);

// Kinds, lifetimes, use counts and sizes are right; run step by step, no step reads a value whose
// bytes were overwritten or that lies in another location than the step wants it in, none writes
// what is read only or still needed, and a buffer changes hands only where it is dead, or where the
// step permits it.
[[nodiscard]] Status check_allocation(const Graph& graph, const ExecutionPlan& plan,
                                      std::span<const StepTraits> traits,
                                      const AllocationPlan& allocation);

// No two buffers or workspaces that are needed at the same step overlap, all lie in their block on
// aligned offsets, and nothing is in a block that should not be. `sizes` as given to plan_memory.
[[nodiscard]] Status check_memory(const AllocationPlan& allocation, const MemoryPattern& pattern,
                                  std::span<const std::optional<uint64_t>> sizes = {});

// Whatever order the dependencies permit, each step finds what it reads, and no memory that a step
// writes is used by another one at the same time or in another order than the plan's. Takes time
// and memory in the square of the steps. `sizes` as given to plan_memory.
[[nodiscard]] Status check_dependencies(const ExecutionPlan& plan, const AllocationPlan& allocation,
                                        const MemoryPattern& pattern,
                                        const StepDependencies& dependencies,
                                        std::span<const std::optional<uint64_t>> sizes = {});

// No two buffers that are alive at the same time overlap, offsets are aligned, peak and lower bound
// are what they say. What the exact search proved beyond the lower bound is only compared with the
// peak; tests compare it with all placements of small problems. O(n log n).
[[nodiscard]] Status check_placement(std::span<const Buffer> buffers, const Placement& placement,
                                     uint64_t alignment = kDefaultAlignment);

}  // namespace ephost::plan
