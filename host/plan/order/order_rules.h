// Rules that find an order for an OrderProblem. None dominates; memory_order.h takes the best. Each
// is deterministic: ties go to the step that the plan has first. Used inside host/plan only.
#pragma once

#include <cstdint>
#include <vector>

#include "host/plan/order/order_problem.h"

namespace ephost::plan {

using Order = std::vector<uint32_t>;  // every step once, after what it depends on

// Steps as the last ones need them, each after its predecessors in their order.
[[nodiscard]] Order order_depth_first(const OrderProblem& problem);

// The same, but the predecessor that needs most beside what it leaves comes first (Sethi and Ullman
// on trees; elsewhere an estimate).
[[nodiscard]] Order order_by_need(const OrderProblem& problem);

enum class Greed : uint8_t {
  kGrowth,  // of the steps that are ready, the one after which least is live
  kChains,  // looks ahead along steps that only wait for one another, to the lowest point there
};

// One step after the other.
[[nodiscard]] Order order_greedily(const OrderProblem& problem, Greed greed);

// Beam search over the sets of steps that were taken: the `width` best of each size go on, and a
// step that frees at least what it takes is taken without alternative. Nothing if no order is found
// whose peak is below `limit`, or if that were to take more than `most_work` simple operations.
[[nodiscard]] Order search_order(const OrderProblem& problem, uint64_t limit, size_t width,
                                 uint64_t most_work);

}  // namespace ephost::plan
