// Placing buffers in one block: strip packing with fixed times, as in MiniMalloc. Knows nothing of
// graphs and plans, and allocates nothing.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

}  // namespace ephost::plan
