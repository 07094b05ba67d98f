// The order of steps as a pure problem: steps depend on each other and use storages, which occupy
// memory from the first step that uses them to the last. An approximation of the allocation plan of
// an order that is quick to evaluate. Used inside host/plan only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"

namespace ephost::plan {

// Lists of numbers, stored consecutively in one array.
class Lists {
 public:
  Lists() : begins_(1, 0) {}
  void add(uint32_t item) { items_.push_back(item); }
  void end_list() { begins_.push_back(static_cast<uint32_t>(items_.size())); }
  // Sorts the list under construction and removes duplicates.
  void end_set();
  [[nodiscard]] size_t size() const { return begins_.size() - 1; }
  [[nodiscard]] std::span<const uint32_t> operator[](size_t i) const {
    return std::span(items_).subspan(begins_[i], begins_[i + 1] - begins_[i]);
  }
  // The transposed lists: list j contains every i whose list contains j.
  [[nodiscard]] Lists inverse(size_t count) const;

 private:
  std::vector<uint32_t> begins_;
  std::vector<uint32_t> items_;
};

// A step may write storage `to`, unused until then, over `from`, unused afterwards.
struct StoragePair {
  uint32_t from = 0;
  uint32_t to = 0;
};

struct OrderProblem {
  Lists predecessors;  // by step; steps are numbered as in the plan
  Lists successors;
  Lists touched;                                // by step: storages
  Lists touching;                               // by storage: steps
  std::vector<uint64_t> bytes;                  // by storage
  std::vector<uint64_t> workspace;              // by step
  std::vector<std::vector<StoragePair>> pairs;  // by step; empty if no step has any

  [[nodiscard]] uint32_t steps() const { return static_cast<uint32_t>(touched.size()); }
};

// `sizes`, by value, are the sizes of the steps' outputs; unknown sizes count as 0. Sharing that is
// common to all orders is resolved here: views, in-place steps whose input has no other reader,
// and, with `use_parts`, parts.
[[nodiscard]] OrderProblem make_order_problem(const Graph& graph, const ExecutionPlan& plan,
                                              std::span<const StepTraits> traits,
                                              std::span<const std::optional<uint64_t>> sizes,
                                              bool use_parts);

// The same problem with time reversed: the reverse of an order of it is an order of `problem` with
// the same peak.
[[nodiscard]] OrderProblem reversed(const OrderProblem& problem);

// Tracks live bytes while steps are scheduled one after the other.
class LiveState {
 public:
  explicit LiveState(const OrderProblem& problem);

  struct Effect {
    uint64_t during = 0;  // live bytes while the step runs
    uint64_t after = 0;
  };
  [[nodiscard]] Effect effect_of(uint32_t step) const;
  Effect take(uint32_t step);
  // Undoes the last step; `live` is the number of live bytes before it.
  void undo(uint32_t step, uint64_t live);
  [[nodiscard]] uint64_t live() const { return live_; }
  // The steps that use a storage and are not scheduled yet.
  [[nodiscard]] uint32_t remaining(uint32_t storage) const { return remaining_[storage]; }
  [[nodiscard]] bool is_live(uint32_t storage) const {
    return remaining_[storage] != problem_->touching[storage].size();
  }

 private:
  const OrderProblem* problem_;
  std::vector<uint32_t> remaining_;
  uint64_t live_ = 0;
};

// The peak of live bytes of an order.
[[nodiscard]] uint64_t peak_of(const OrderProblem& problem, std::span<const uint32_t> order);

// The requirement of the most demanding step by itself: a lower bound for all orders.
[[nodiscard]] uint64_t least_peak(const OrderProblem& problem);

}  // namespace ephost::plan
