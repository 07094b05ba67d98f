// The memory pattern: one block of memory for each location, and for each buffer of known size an
// offset in it. `place_buffers` is the pure problem underneath (strip packing with fixed times, as
// in MiniMalloc), `plan_memory` applies it to an allocation plan. Allocates nothing.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "host/plan/allocation_plan.h"

namespace ephost::plan {

inline constexpr uint64_t kDefaultAlignment = 64;

// Needs `size` bytes from time `lower` up to, not including, `upper`.
struct Buffer {
  uint32_t lower = 0;
  uint32_t upper = 0;
  uint64_t size = 0;
};

// How long the exact search may take, in the number of times that it looks at a buffer or at a
// time; a million is about 2 ms. It is only needed where simple rules don't meet the lower bound.
inline constexpr uint64_t kSessionSearchWork = 1'000'000;
inline constexpr uint64_t kPatientSearchWork = 2'000'000'000;

struct PlacementOptions {
  uint64_t alignment = kDefaultAlignment;  // of every offset
  // Any placement within so many bytes will do. Without, the lowest is sought.
  std::optional<uint64_t> capacity = std::nullopt;
  uint64_t search_work = kSessionSearchWork;  // 0: no exact search
};

// Sizes count rounded up to the alignment, in `peak` and in the bounds.
struct Placement {
  std::vector<uint64_t> offsets;  // by buffer, multiples of the alignment
  uint64_t peak = 0;              // largest offset + size
  uint64_t lower_bound = 0;       // largest sum of sizes alive at one time; no placement is below
  bool proved_optimal = false;    // peak == proved_bound
  uint64_t proved_bound = 0;      // no placement is below: lower_bound, or what the search proved
};

// Several orders, each placed on top of one another, by first fit, best fit and skyline; the best
// is kept, the first that meets the lower bound (or the capacity) ends the search. If none does and
// there are no more than 2,000 buffers, an exact search goes on at the lower bound or capacity,
// and without capacity at those between the bound and the best known. Deterministic, and
// independent of the order of the buffers; effort is bounded by work, not by the clock, so very
// large or dense problems get fewer attempts. INVALID_ARGUMENT if a buffer has lower >= upper, if
// the alignment is not a power of two, or if the sizes add up to more than 64 bits hold. That the
// capacity could not be met is no error: `peak` shows it.
[[nodiscard]] Result<Placement> place_buffers(std::span<const Buffer> buffers,
                                              const PlacementOptions& options = {});

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
