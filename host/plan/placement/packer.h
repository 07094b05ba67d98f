// The solver of placement problems: first orders and rules (placement.h), which meet the lower
// bound for nearly all graphs, then the exact search (valley_search.h) for the rest. Used inside
// host/plan only.
//
// This is our own because MiniMalloc, from which the problem and its file format come, is not
// packaged and only searches for an exact solution within a given capacity, and general solvers
// (constraint or integer programming) take seconds where a session has milliseconds.
#pragma once

#include <cstdint>
#include <optional>

#include "host/plan/placement/placement.h"

namespace ephost::plan {

struct PackResult {
  Packing packing;
  uint64_t bound = 0;  // no packing has a peak below it
};

// Stops at the first packing within `capacity`, or, without a capacity, at the first one that is
// proved optimal. `search_work` bounds the exact search, in the units of ValleySearch::run.
[[nodiscard]] PackResult pack(const Problem& problem, std::optional<uint64_t> capacity,
                              uint64_t search_work);

}  // namespace ephost::plan
