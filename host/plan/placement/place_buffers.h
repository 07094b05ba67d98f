// Placement of buffers in one block: strip packing with fixed times, as in MiniMalloc. Knows
// nothing about graphs and plans, and allocates nothing.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ephost::plan {

inline constexpr uint64_t kDefaultAlignment = 64;

// Needs `size` bytes in the half-open interval of time [lower, upper).
struct Buffer {
  uint32_t lower = 0;
  uint32_t upper = 0;
  uint64_t size = 0;
};

// The effort of the exact search, as the number of times that it examines a buffer or a point in
// time; a million takes about 2 ms. The search only runs where simple rules do not meet the lower
// bound.
inline constexpr uint64_t kSessionSearchWork = 1'000'000;
inline constexpr uint64_t kPatientSearchWork = 2'000'000'000;

struct PlacementOptions {
  uint64_t alignment = kDefaultAlignment;  // of every offset
  // Any placement within this many bytes is accepted. Without a capacity, the lowest peak is
  // sought.
  std::optional<uint64_t> capacity = std::nullopt;
  uint64_t search_work = kSessionSearchWork;  // 0: no exact search
};

// `peak` and the bounds count sizes rounded up to the alignment.
struct Placement {
  std::vector<uint64_t> offsets;  // by buffer, multiples of the alignment
  uint64_t peak = 0;              // largest offset + size
  uint64_t lower_bound = 0;       // the largest total of live sizes; no peak is lower
  bool proved_optimal = false;    // peak == proved_bound
  uint64_t proved_bound = 0;      // lower_bound, or a higher bound that the search proved
};

// Tries several orders with several rules (stacking, first fit, best fit, skyline) and keeps the
// best result; the first that meets the lower bound (or the capacity) ends the search. If none does
// and there are at most 2,000 buffers, an exact search tries the lower bound or capacity, and
// without a capacity also peaks between the bound and the best known. Deterministic, and
// independent of the order of the buffers; effort is bounded by work, not by the clock, so very
// large or dense problems get fewer attempts. Returns INVALID_ARGUMENT if a buffer has lower >=
// upper, if the alignment is not a power of two, or if the sizes overflow 64 bits. Missing the
// capacity is not an error: `peak` shows it.
[[nodiscard]] Result<Placement> place_buffers(std::span<const Buffer> buffers,
                                              const PlacementOptions& options = {});

}  // namespace ephost::plan
