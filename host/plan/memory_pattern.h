// The memory pattern: one block of memory for each location, and for each buffer of known size an
// offset in it, chosen by `place_buffers`. Allocates nothing.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "host/plan/allocation_plan.h"
#include "host/plan/placement/place_buffers.h"

namespace ephost::plan {

// "Not in the block".
inline constexpr uint64_t kNoOffset = std::numeric_limits<uint64_t>::max();

struct MemoryBlock {
  uint32_t location = kHostLocation;
  uint64_t bytes = 0;
  uint64_t lower_bound = 0;
  bool proved_optimal = false;
  uint64_t alignment = kDefaultAlignment;  // of the block and of every offset in it
};

struct MemoryPattern {
  uint64_t alignment = kDefaultAlignment;  // the least of all blocks
  std::vector<MemoryBlock> blocks;         // ascending by location; only locations with buffers
  // By value id: offset in the block of the value's location; of a kReuse value it is the root's
  // plus ValuePlan::offset. kNoOffset for everything whose buffer is not kAllocate or whose size is
  // unknown.
  std::vector<uint64_t> offsets;
  std::vector<uint64_t> workspace_offsets;  // by step; kNoOffset without workspace
};

struct MemoryOptions {
  bool enable_mem_pattern = true;  // off: nothing is in a block, all is allocated at run time
  uint64_t alignment = kDefaultAlignment;
  uint64_t search_work = kSessionSearchWork;  // as in PlacementOptions, for each location
  // By location, where it is more than `alignment`; those past the end have that.
  std::vector<uint64_t> alignments = {};
};

// `sizes`, if not empty, has one entry a value and stands in for the plan's own bytes: what a run
// with other input shapes was seen to need. A buffer gets the largest size known among the values
// in it, and is left out if its root's is unknown. INVALID_ARGUMENT as in place_buffers.
[[nodiscard]] Result<MemoryPattern> plan_memory(const AllocationPlan& plan,
                                                std::span<const std::optional<uint64_t>> sizes = {},
                                                const MemoryOptions& options = {});

}  // namespace ephost::plan
