// The order of steps as a pure problem: steps that depend on each other and touch storages, which
// take memory from the first step that touches them to the last. An approximation of what the
// allocation plan will do with an order, quick to evaluate. Used inside host/plan only.
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

// Lists of numbers, one after the other in one array.
class Lists {
 public:
  Lists() : begins_(1, 0) {}
  void add(uint32_t item) { items_.push_back(item); }
  void end_list() { begins_.push_back(static_cast<uint32_t>(items_.size())); }
  // Sorts the list that is being made and drops what stands in it twice.
  void end_set();
  [[nodiscard]] size_t size() const { return begins_.size() - 1; }
  [[nodiscard]] std::span<const uint32_t> operator[](size_t i) const {
    return std::span(items_).subspan(begins_[i], begins_[i + 1] - begins_[i]);
  }
  // List j has every i whose list has j.
  [[nodiscard]] Lists inverse(size_t count) const;

 private:
  std::vector<uint32_t> begins_;
  std::vector<uint32_t> items_;
};

// A step may write storage `to`, which nothing has touched before, over `from`, which nothing
// touches afterwards.
struct StoragePair {
  uint32_t from = 0;
  uint32_t to = 0;
};

struct OrderProblem {
  Lists predecessors;  // by step; steps are numbered as the plan has them
  Lists successors;
  Lists touched;                                // by step: storages
  Lists touching;                               // by storage: steps
  std::vector<uint64_t> bytes;                  // by storage
  std::vector<uint64_t> workspace;              // by step
  std::vector<std::vector<StoragePair>> pairs;  // by step; empty if no step has any

  [[nodiscard]] uint32_t steps() const { return static_cast<uint32_t>(touched.size()); }
};

// `sizes`, by value, are what the steps' outputs need; what has none counts as nothing. What all
// orders share is settled here: views, in-place steps whose input nothing else reads, and, with
// `use_parts`, parts.
[[nodiscard]] OrderProblem make_order_problem(const Graph& graph, const ExecutionPlan& plan,
                                              std::span<const StepTraits> traits,
                                              std::span<const std::optional<uint64_t>> sizes,
                                              bool use_parts);

// The same with time running backwards: an order of it, reversed, is one of `problem` and needs as
// much.
[[nodiscard]] OrderProblem reversed(const OrderProblem& problem);

// Live bytes while steps are taken one after the other.
class LiveState {
 public:
  explicit LiveState(const OrderProblem& problem);

  struct Effect {
    uint64_t during = 0;  // live bytes while the step runs
    uint64_t after = 0;
  };
  [[nodiscard]] Effect effect_of(uint32_t step) const;
  Effect take(uint32_t step);
  // Takes the last step back; `live` is what was live before it.
  void undo(uint32_t step, uint64_t live);
  [[nodiscard]] uint64_t live() const { return live_; }
  // Steps that touch it and were not taken.
  [[nodiscard]] uint32_t remaining(uint32_t storage) const { return remaining_[storage]; }
  [[nodiscard]] bool is_live(uint32_t storage) const {
    return remaining_[storage] != problem_->touching[storage].size();
  }

 private:
  const OrderProblem* problem_;
  std::vector<uint32_t> remaining_;
  uint64_t live_ = 0;
};

// Largest number of live bytes of an order.
[[nodiscard]] uint64_t peak_of(const OrderProblem& problem, std::span<const uint32_t> order);

// What the most demanding step needs by itself: no order needs less.
[[nodiscard]] uint64_t least_peak(const OrderProblem& problem);

}  // namespace ephost::plan
