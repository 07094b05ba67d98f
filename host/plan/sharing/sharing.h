// Second half of the allocation plan: which values use one buffer. Walks the steps once, after
// lifetimes.h has described each value. Used inside host/plan only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"

namespace ephost::plan {

// A step whose parts lie in one buffer extends the buffer's life compared with a copy: for a
// Concat, from the first of its inputs on; for a Split, until the last of its outputs ends.
struct PartUse {
  uint32_t pc = 0;
  uint32_t first_pc = 0;  // the added time, inclusive; empty if last_pc is less
  uint32_t last_pc = 0;
  uint64_t bytes = 0;  // of the value that contains the parts
};

struct Shared {
  std::vector<ValuePlan> values;
  std::vector<BufferPlan> buffers;  // ascending by first_pc, then by root
  std::vector<PartUse> part_uses;   // ascending by pc
};

// `values` are the result of find_lifetimes, which has verified that everything matches. Steps that
// are set in `without_parts`, which has one entry per step, copy their parts.
[[nodiscard]] Shared share_buffers(const Graph& graph, const ExecutionPlan& plan,
                                   std::span<const StepTraits> traits,
                                   std::vector<ValuePlan> values,
                                   const std::vector<bool>& without_parts);

// Gives every value that a step produces its own buffer.
[[nodiscard]] Shared without_sharing(const ExecutionPlan& plan, std::vector<ValuePlan> values);

}  // namespace ephost::plan
