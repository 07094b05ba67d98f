// Rules that find an order for an OrderProblem. None dominates the others; memory_order.h takes the
// best result. Each is deterministic: ties are broken by the plan's order. Used inside host/plan
// only.
#pragma once

#include <cstdint>
#include <vector>

#include "host/plan/order/order_problem.h"

namespace ephost::plan {

using Order = std::vector<uint32_t>;  // every step once, after its predecessors

// Depth-first post-order from the last steps, visiting predecessors in their order.
[[nodiscard]] Order order_depth_first(const OrderProblem& problem);

// The same, but visits the predecessor with the largest peak minus remainder first (Sethi and
// Ullman; optimal on trees, an estimate elsewhere).
[[nodiscard]] Order order_by_need(const OrderProblem& problem);

enum class GreedyRule : uint8_t {
  kGrowth,  // the ready step with the fewest live bytes after it
  kChains,  // looks ahead along chains, to the lowest point of each
};

// A greedy schedule, one step after the other.
[[nodiscard]] Order order_greedily(const OrderProblem& problem, GreedyRule rule);

// Beam search over sets of scheduled steps: the `width` best sets of each size are kept, and a step
// that frees at least as much as it allocates is taken without alternatives. Returns nothing if no
// order with a peak below `limit` is found, or if the search would take more than `max_work` simple
// operations.
[[nodiscard]] Order search_order(const OrderProblem& problem, uint64_t limit, size_t width,
                                 uint64_t max_work);

}  // namespace ephost::plan
