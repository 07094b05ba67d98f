#include "host/plan/order/order_rules.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

namespace ephost::plan {
namespace {

// Visits steps after their predecessors, starting from `sinks`, without recursion.
class DepthFirst {
 public:
  explicit DepthFirst(const OrderProblem& problem)
      : problem_(problem), is_visited_(problem.steps(), false) {}

  // `predecessors(step)` are the predecessors of a step in the order in which to visit them.
  template <class Predecessors>
  Order run(const std::vector<uint32_t>& sinks, Predecessors predecessors) && {
    order_.reserve(problem_.steps());
    for (const uint32_t sink : sinks) {
      enter(sink);
      while (!stack_.empty()) {
        auto& [step, next] = stack_.back();
        const std::span<const uint32_t> before = predecessors(step);
        while (next < before.size() && is_visited_[before[next]]) ++next;
        if (next < before.size()) {
          enter(before[next]);
        } else {
          order_.push_back(step);
          stack_.pop_back();
        }
      }
    }
    return std::move(order_);
  }

 private:
  void enter(uint32_t step) {
    is_visited_[step] = true;
    stack_.emplace_back(step, 0);
  }

  const OrderProblem& problem_;
  std::vector<bool> is_visited_;
  std::vector<std::pair<uint32_t, size_t>> stack_;  // with the index of the next predecessor
  Order order_;
};

std::vector<uint32_t> sinks_of(const OrderProblem& problem) {
  std::vector<uint32_t> sinks;
  for (uint32_t step = 0; step < problem.steps(); ++step) {
    if (problem.successors[step].empty()) sinks.push_back(step);
  }
  return sinks;
}

// The peak of a step and all its predecessors, and what remains live after the step.
struct Need {
  uint64_t peak = 0;
  uint64_t left = 0;
};

class Needs {
 public:
  explicit Needs(const OrderProblem& problem) : needs_(problem.steps()) {
    find_remainders(problem);
    for (uint32_t step = 0; step < problem.steps(); ++step) {
      for (const uint32_t before : sorted(problem.predecessors[step])) sorted_.add(before);
      sorted_.end_list();
      find_peak(problem, step);
    }
  }

  // Sorts by peak minus remainder, largest first.
  [[nodiscard]] std::vector<uint32_t> sorted(std::span<const uint32_t> steps) const {
    std::vector<uint32_t> result(steps.begin(), steps.end());
    const auto beside = [&](uint32_t step) {
      return needs_[step].peak - std::min(needs_[step].peak, needs_[step].left);
    };
    std::ranges::stable_sort(result, std::greater<>(), beside);
    return result;
  }
  [[nodiscard]] std::span<const uint32_t> predecessors(uint32_t step) const {
    return sorted_[step];
  }

 private:
  // A storage is attributed to the first step of the plan that uses it.
  void find_remainders(const OrderProblem& problem) {
    for (uint32_t storage = 0; storage < problem.bytes.size(); ++storage) {
      const std::span<const uint32_t> steps = problem.touching[storage];
      if (steps.size() > 1) needs_[steps.front()].left += problem.bytes[storage];
    }
  }
  void find_peak(const OrderProblem& problem, uint32_t step) {
    Need& need = needs_[step];
    uint64_t held = 0;
    for (const uint32_t before : sorted_[step]) {
      need.peak = std::max(need.peak, held + needs_[before].peak);
      held += needs_[before].left;
    }
    uint64_t own = problem.workspace[step];
    for (const uint32_t storage : problem.touched[step]) own += problem.bytes[storage];
    need.peak = std::max(need.peak, own);
  }

  std::vector<Need> needs_;
  Lists sorted_;
};

// Smaller is better: the class of the step, its growth, its index.
using Score = std::tuple<int, int64_t, uint32_t>;

class Greedy {
 public:
  Greedy(const OrderProblem& problem, GreedyRule rule)
      : problem_(problem), rule_(rule), state_(problem), waits_for_(problem.steps()) {}

  Order run() && {
    for (uint32_t step = 0; step < problem_.steps(); ++step) {
      waits_for_[step] = static_cast<uint32_t>(problem_.predecessors[step].size());
      if (waits_for_[step] == 0) push(step);
    }
    Order order;
    order.reserve(problem_.steps());
    while (!ready_.empty()) {
      const Score top = ready_.top();
      ready_.pop();
      const uint32_t step = std::get<2>(top);
      if (is_taken_[step]) continue;
      // The growth may have increased since the entry was pushed; a decrease was pushed again.
      if (const Score now = score(step); now > top) {
        ready_.push(now);
        continue;
      }
      order.push_back(step);
      take(step);
    }
    return order;
  }

 private:
  void push(uint32_t step) { ready_.push(score(step)); }

  void take(uint32_t step) {
    is_taken_[step] = true;
    changed_.clear();
    for (const uint32_t storage : problem_.touched[step]) {
      const bool begins = !state_.is_live(storage);
      if (begins || state_.remaining(storage) == 2) changed_.push_back(storage);
    }
    state_.take(step);
    for (const uint32_t after : problem_.successors[step]) {
      if (--waits_for_[after] == 0) push(after);
    }
    // These now allocate less, or free more.
    for (const uint32_t storage : changed_) {
      for (const uint32_t other : problem_.touching[storage]) {
        if (!is_taken_[other] && waits_for_[other] == 0) push(other);
      }
    }
  }

  [[nodiscard]] Score score(uint32_t step) {
    if (rule_ == GreedyRule::kChains) return score_chain(step);
    const LiveState::Effect effect = state_.effect_of(step);
    return {0, difference(effect.after, state_.live()), step};
  }

  // The optimal schedule of parallel chains (Liu): chains that end lower than they begin come
  // first, those with the lowest peak before others; then the rest, those with the largest drop
  // after the peak first.
  [[nodiscard]] Score score_chain(uint32_t step) {
    constexpr size_t kMaxSteps = 16;
    const uint64_t start = state_.live();
    uint64_t top = 0;
    uint64_t hill = 0;  // the peak before the valley
    uint64_t valley = std::numeric_limits<uint64_t>::max();
    chain_.clear();
    for (uint32_t next = step; chain_.size() < kMaxSteps;) {
      chain_.emplace_back(next, state_.live());
      const LiveState::Effect effect = state_.take(next);
      top = std::max(top, effect.during);
      if (effect.after < valley) {
        valley = effect.after;
        hill = top;
      }
      const std::span<const uint32_t> after = problem_.successors[next];
      if (after.size() != 1 || waits_for_[after[0]] != 1) break;
      next = after[0];
    }
    while (!chain_.empty()) {
      state_.undo(chain_.back().first, chain_.back().second);
      chain_.pop_back();
    }
    if (valley <= start) return {0, difference(hill, start), step};
    return {1, difference(valley, hill), step};
  }

  static int64_t difference(uint64_t a, uint64_t b) { return static_cast<int64_t>(a - b); }

  const OrderProblem& problem_;
  GreedyRule rule_;
  LiveState state_;
  std::vector<uint32_t> waits_for_;  // by step: unscheduled predecessors
  std::vector<bool> is_taken_ = std::vector<bool>(problem_.steps(), false);
  std::priority_queue<Score, std::vector<Score>, std::greater<>> ready_;
  std::vector<uint32_t> changed_;
  std::vector<std::pair<uint32_t, uint64_t>> chain_;  // steps, with the live bytes before each
};

}  // namespace

Order order_depth_first(const OrderProblem& problem) {
  return DepthFirst(problem).run(sinks_of(problem),
                                 [&](uint32_t step) { return problem.predecessors[step]; });
}

Order order_by_need(const OrderProblem& problem) {
  const Needs needs(problem);
  return DepthFirst(problem).run(needs.sorted(sinks_of(problem)),
                                 [&](uint32_t step) { return needs.predecessors(step); });
}

Order order_greedily(const OrderProblem& problem, GreedyRule rule) {
  return Greedy(problem, rule).run();
}

}  // namespace ephost::plan
