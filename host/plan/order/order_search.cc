// Beam search for an order (order_rules.h).
#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "host/plan/order/order_rules.h"

namespace ephost::plan {
namespace {

constexpr uint32_t kNoTrail = std::numeric_limits<uint32_t>::max();

// A set of scheduled steps, and what follows from it.
struct State {
  LiveState live;
  std::vector<uint32_t> waits_for;  // by step: unscheduled predecessors
  std::vector<uint32_t> ready;      // ascending
  uint64_t peak = 0;
  uint64_t hash = 0;          // of the set
  uint32_t trail = kNoTrail;  // the last step, as an index into the list of all trails
};

struct Trail {
  uint32_t before = kNoTrail;
  uint32_t step = 0;
};

// A step that could be scheduled next.
struct Choice {
  uint64_t peak = 0;
  uint64_t live = 0;
  uint32_t state = 0;
  uint32_t step = 0;
  uint64_t hash = 0;

  [[nodiscard]] auto rank() const { return std::tuple(peak, live, state, step); }
};

// Spreads the bits of a step's number, so that the sum over a set identifies the set.
uint64_t hash_of(uint32_t step) {
  uint64_t x = (step + 1) * 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  return x ^ (x >> 29);
}

class Beam {
 public:
  Beam(const OrderProblem& problem, uint64_t limit, size_t width)
      : problem_(problem), limit_(limit), width_(width), floor_(least_peak(problem)) {}

  Order run() && {
    std::vector<State> states(1, first());
    for (uint32_t taken = 0; taken < problem_.steps(); ++taken) {
      const std::vector<Choice> choices = choose(states);
      if (choices.empty()) return {};
      std::vector<State> next;
      next.reserve(choices.size());
      for (size_t i = 0; i < choices.size(); ++i) {
        // The last child of a state reuses its memory.
        const bool is_last =
            std::none_of(choices.begin() + static_cast<ptrdiff_t>(i) + 1, choices.end(),
                         [&](const Choice& later) { return later.state == choices[i].state; });
        State& parent = states[choices[i].state];
        next.push_back(is_last ? std::move(parent) : parent);
        take(next.back(), choices[i]);
      }
      states = std::move(next);
    }
    return trace(states.front().trail);
  }

 private:
  [[nodiscard]] State first() const {
    State state = {LiveState(problem_), {}, {}, floor_, 0, kNoTrail};
    for (uint32_t step = 0; step < problem_.steps(); ++step) {
      state.waits_for.push_back(static_cast<uint32_t>(problem_.predecessors[step].size()));
      if (state.waits_for.back() == 0) state.ready.push_back(step);
    }
    return state;
  }

  [[nodiscard]] std::vector<Choice> choose(const std::vector<State>& states) const {
    std::vector<Choice> choices;
    for (uint32_t i = 0; i < states.size(); ++i) add_choices(states[i], i, choices);
    std::ranges::sort(choices, {}, &Choice::rank);
    // Of equal sets, the one with the lowest peak survives.
    std::vector<uint64_t> seen;
    std::vector<Choice> kept;
    for (const Choice& choice : choices) {
      if (kept.size() == width_) break;
      if (std::ranges::find(seen, choice.hash) != seen.end()) continue;
      seen.push_back(choice.hash);
      kept.push_back(choice);
    }
    return kept;
  }

  void add_choices(const State& state, uint32_t index, std::vector<Choice>& choices) const {
    const size_t begin = choices.size();
    for (const uint32_t step : state.ready) {
      const LiveState::Effect effect = state.live.effect_of(step);
      const uint64_t peak = std::max(state.peak, effect.during);
      const Choice choice = {peak, effect.after, index, step, state.hash + hash_of(step)};
      if (peak == state.peak && effect.after <= state.live.live()) {
        // Whatever comes later, it is never worse to have scheduled this step now.
        choices.resize(begin);
        choices.push_back(choice);
        return;
      }
      if (peak < limit_) choices.push_back(choice);
    }
  }

  void take(State& state, const Choice& choice) {
    state.live.take(choice.step);
    state.peak = choice.peak;
    state.hash = choice.hash;
    std::erase(state.ready, choice.step);
    for (const uint32_t after : problem_.successors[choice.step]) {
      if (--state.waits_for[after] != 0) continue;
      state.ready.insert(std::ranges::lower_bound(state.ready, after), after);
    }
    trails_.push_back({state.trail, choice.step});
    state.trail = static_cast<uint32_t>(trails_.size() - 1);
  }

  [[nodiscard]] Order trace(uint32_t trail) const {
    Order order;
    for (; trail != kNoTrail; trail = trails_[trail].before) order.push_back(trails_[trail].step);
    std::ranges::reverse(order);
    return order;
  }

  const OrderProblem& problem_;
  uint64_t limit_;
  size_t width_;
  uint64_t floor_;  // no order has a lower peak
  std::vector<Trail> trails_;
};

}  // namespace

Order search_order(const OrderProblem& problem, uint64_t limit, size_t width, uint64_t max_work) {
  const uint64_t steps = problem.steps();
  const uint64_t state = steps + problem.bytes.size();
  if (least_peak(problem) >= limit || steps == 0) return {};
  if (state > max_work / (width * steps)) return {};
  return Beam(problem, limit, width).run();
}

}  // namespace ephost::plan
