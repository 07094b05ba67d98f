// How a placement problem is solved: orders and rules (placement.h) first, as they meet the lower
// bound for nearly all graphs, then the exact search (valley_search.h) for what is left. Used
// inside host/plan only.
#pragma once

#include <cstdint>
#include <optional>

#include "host/plan/placement/placement.h"

namespace ephost::plan {

struct PackResult {
  Packing packing;
  uint64_t bound = 0;  // no packing has a peak below it
};

// Stops at the first packing within `capacity`, or without one at one that is proved to be optimal.
// `search_work` bounds the exact search, in the units of ValleySearch::run.
[[nodiscard]] PackResult pack(const Problem& problem, std::optional<uint64_t> capacity,
                              uint64_t search_work);

}  // namespace ephost::plan
