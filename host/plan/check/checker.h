// Verification of plans by means other than those that produced them: each check simulates or
// sweeps, and shares no code with the planner. Called by tests and, in builds with assertions, by
// the session after planning. A failure is a bug in the planner: FAIL, naming step and value.
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
#include "host/plan/streams/stream_plan.h"

namespace ephost::plan {

// Each node is run exactly once, by its owner; each step's slots are those of its node or
// partition, or copies of them; and everything that a step reads has been produced before, in the
// copy that it reads.
[[nodiscard]] Status check_execution(const Graph& graph,
                                     const partition::Partitioning& partitioning,
                                     const ExecutionPlan& plan);

// Kinds, lifetimes, use counts and sizes are correct. Executed step by step, no step reads a value
// whose bytes were overwritten or that is in another location than the step requires, none writes
// to read-only or live memory, and a buffer is reused only when it is dead, or where the step
// permits it.
[[nodiscard]] Status check_allocation(const Graph& graph, const ExecutionPlan& plan,
                                      std::span<const StepTraits> traits,
                                      const AllocationPlan& allocation);

// No two buffers or workspaces that are needed at the same step overlap, all lie within their block
// at aligned offsets, and a block contains nothing else. `sizes` as given to plan_memory.
[[nodiscard]] Status check_memory(const AllocationPlan& allocation, const MemoryPattern& pattern,
                                  std::span<const std::optional<uint64_t>> sizes = {});

// What a step reads, writes or works in is aligned as its traits say, as far as it is in the block
// of host memory.
[[nodiscard]] Status check_alignment(const Graph& graph, const ExecutionPlan& plan,
                                     std::span<const StepTraits> traits,
                                     const AllocationPlan& allocation,
                                     const MemoryPattern& pattern);

// In every order that the dependencies permit, each step finds its inputs, and no other step uses
// memory that a step writes at the same time or in an order other than the plan's. Takes time and
// memory quadratic in the number of steps. `sizes` as given to plan_memory.
[[nodiscard]] Status check_dependencies(const ExecutionPlan& plan, const AllocationPlan& allocation,
                                        const MemoryPattern& pattern,
                                        const StepDependencies& dependencies,
                                        std::span<const std::optional<uint64_t>> sizes = {});

// However fast each stream is: each step finds its inputs, those in host memory when it is enqueued
// unless `queues` says that they are read later, and no other step uses memory that a step
// writes at the same time or in an order other than the plan's; a stream waits only for points that
// are recorded before; and no open buffer is given back while another stream may use it. Takes time
// and memory quadratic in the number of steps. `sizes` as given to plan_memory.
[[nodiscard]] Status check_streams(const ExecutionPlan& plan, const AllocationPlan& allocation,
                                   const MemoryPattern& pattern, std::span<const StepQueue> queues,
                                   const StreamPlan& streams,
                                   std::span<const std::optional<uint64_t>> sizes = {});

// No two buffers that are alive at the same time overlap, offsets are aligned, and peak and lower
// bound are correct. The bound that the exact search proved beyond the lower bound is only compared
// with the peak; tests compare it with all placements of small problems. O(n log n).
[[nodiscard]] Status check_placement(std::span<const Buffer> buffers, const Placement& placement,
                                     uint64_t alignment = kDefaultAlignment);

}  // namespace ephost::plan
