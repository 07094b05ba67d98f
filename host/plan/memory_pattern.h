// The memory pattern: one block of memory per location, and for each buffer of known size its
// offset in the block, chosen by `place_buffers`. Allocates nothing.
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
  uint64_t alignment = kDefaultAlignment;  // the smallest of all blocks
  std::vector<MemoryBlock> blocks;         // ascending by location; only locations with buffers
  // By value id: offset in the block of the value's location; for a kReuse value, the root's offset
  // plus ValuePlan::offset. kNoOffset if the buffer is not kAllocate or its size is unknown.
  std::vector<uint64_t> offsets;
  std::vector<uint64_t> workspace_offsets;  // by step; kNoOffset without a workspace
};

struct MemoryOptions {
  bool enable_mem_pattern = true;  // off: all buffers are allocated at run time
  uint64_t alignment = kDefaultAlignment;
  uint64_t search_work = kSessionSearchWork;  // as in PlacementOptions, for each location
  // By location, where it exceeds `alignment`; locations past the end use `alignment`.
  std::vector<uint64_t> alignments = {};
  // By step; empty: all are 0. Buffers whose first steps are of different groups share no memory,
  // so that steps which run at the same time do not wait for each other's places.
  std::vector<uint32_t> step_groups = {};
};

// `sizes`, if not empty, has one entry per value and replaces the plan's own sizes: the sizes
// observed in a run with other input shapes. A buffer gets the largest known size of the values in
// it, and is omitted if its root's size is unknown. Returns INVALID_ARGUMENT as place_buffers does.
[[nodiscard]] Result<MemoryPattern> plan_memory(const AllocationPlan& plan,
                                                std::span<const std::optional<uint64_t>> sizes = {},
                                                const MemoryOptions& options = {});

}  // namespace ephost::plan
