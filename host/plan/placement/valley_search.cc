#include "host/plan/placement/valley_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace ephost::plan {
namespace {

constexpr uint32_t kNoSection = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kMaxDepth = 2000;  // of the recursion; about 1 MB of stack
constexpr uint64_t kNodesOfARun = 1000;

// A pseudo-random number for each number (the finalizer of SplitMix64).
uint64_t scramble(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// The same, scaled to [0, 1].
double chance(uint64_t seed) { return static_cast<double>(scramble(seed) >> 11) * 0x1p-53; }

// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... for run 1, 2, 3 ...: restart limits that are never much worse
// than the best limit for the problem (Luby, Sinclair, Zuckerman 1993).
uint64_t luby(uint64_t run) {
  for (;;) {
    const uint64_t power = std::bit_floor(run + 1);
    if (power == run + 1) return power / 2;
    run -= power - 1;
  }
}

}  // namespace

// Failed states.

void FailedStates::clear() {
  keys_.assign(1024, {});
  used_ = 0;
}

void FailedStates::add(const Key& key) {
  constexpr size_t kMaxKeys = 1 << 20;
  if (2 * used_ >= keys_.size() && keys_.size() < kMaxKeys) grow();
  Key& at = keys_[slot(key)];
  if (at == Key{}) ++used_;
  at = key;
}

void FailedStates::grow() {
  const std::vector<Key> old = std::exchange(keys_, std::vector<Key>(8 * keys_.size()));
  used_ = 0;
  for (const Key& key : old) {
    if (key == Key{}) continue;
    keys_[slot(key)] = key;
    ++used_;
  }
}

// Restarts.

ValleySearch::ValleySearch(const Problem& problem)
    : problem_(problem), state_(problem), scores_(problem.items.size()) {}

SearchResult ValleySearch::run(uint64_t capacity, uint64_t& work_left) {
  if (capacity != capacity_) failed_.clear();
  capacity_ = capacity;
  const uint64_t nodes = std::max<uint64_t>(kNodesOfARun, 2 * problem_.items.size());
  for (uint64_t run = 0; work_left > 0; ++run) {
    const uint64_t work_before = state_.work();
    work_limit_ = work_before + std::min(work_left, ValleyState::kNowhere - work_before);
    perturb_weights(run);
    state_.reset(capacity);
    pool_.resize(problem_.items.size());
    std::iota(pool_.begin(), pool_.end(), 0U);
    // Short runs are most effective overall; the long ones are for proofs.
    nodes_left_ = nodes * std::max<uint64_t>(1, luby(run + 1) / 8);
    gave_up_ = false;
    const bool done = expand({0, pool_.size()});
    work_left -= std::min(work_left, state_.work() - work_before);
    if (done) return SearchResult::kFound;
    if (!gave_up_) return SearchResult::kImpossible;
  }
  return SearchResult::kGaveUp;
}

// The first runs prefer large and long-lived items, without randomness.
void ValleySearch::perturb_weights(uint64_t run) {
  const auto random = [run](uint64_t which) { return chance(run * 16 + which); };
  double noise = 0;
  switch (run) {
    case 0:
      weights_ = {1, 0.2, 0, 0};
      break;
    case 1:
      weights_ = {1, 1, 0, 0};
      break;
    case 2:
      weights_ = {0.2, 1, 0.5, 0};
      break;
    default:
      weights_ = {random(0), random(1), std::max(0.0, 2 * random(2) - 1),
                  std::max(0.0, 4 * random(3) - 2)};
      noise = std::max(0.0, 3 * random(4) - 1);
  }
  for (size_t i = 0; i < scores_.size(); ++i) {
    const auto& [lower, upper, size] = problem_.items[i];
    scores_[i] = weights_.size * std::log2(static_cast<double>(size)) +
                 weights_.width * std::log2(static_cast<double>(upper - lower)) +
                 noise * (2 * chance(scramble(run) + i) - 1);
  }
}

// The search tree.

// Places all items of the slice, or leaves the state unchanged. Forced choices are made in a loop;
// the slice shrinks with every item placed.
bool ValleySearch::expand(Slice slice) {
  const size_t mark = state_.mark();
  while (slice.begin < slice.end) {
    if (nodes_left_ == 0 || depth_ == kMaxDepth || state_.work() >= work_limit_) {
      gave_up_ = true;
      break;
    }
    --nodes_left_;
    if (!state_.update(items_of(slice))) break;
    const std::vector<Part> parts = parts_of(slice);
    if (parts.size() > 1) {
      if (expand_parts(slice, parts)) return true;
      break;
    }
    Choice choice = choice_at(slice, choose_section(parts[0]));
    if (choice.size() > 1) {
      const FailedStates::Key key = key_of(slice, parts[0]);
      if (failed_.contains(key)) break;
      sort_by_weight(choice, parts[0]);
      if (branch(slice, choice)) return true;
      if (!gave_up_) failed_.add(key);
      break;
    }
    if (choice.may_waste) {
      state_.raise(choice.section, choice.next);
    } else if (!choice.items.empty()) {
      state_.place(choice.items[0], choice.level);
      const std::span<uint32_t> items = items_of(slice);
      const auto placed = std::ranges::find(items, choice.items[0]);
      std::copy(placed + 1, items.end(), placed);
      --slice.end;
    } else {
      state_.count_failure(choice.section);
      break;
    }
  }
  if (slice.begin == slice.end) return true;
  state_.undo(mark);
  return false;
}

// Independent parts are solved separately: where one part fails, no other choice in another helps.
bool ValleySearch::expand_parts(Slice slice, std::span<const Part> parts) {
  for (const Part& part : parts) {
    const size_t begin = pool_.size();
    for (size_t k = slice.begin; k < slice.end; ++k) {
      const uint32_t lower = problem_.items[pool_[k]].lower;
      if (lower >= part.lower && lower < part.upper) pool_.push_back(pool_[k]);
    }
    ++depth_;
    const bool done = expand({begin, pool_.size()});
    --depth_;
    pool_.resize(begin);
    if (!done) return false;
  }
  return true;
}

bool ValleySearch::branch(Slice slice, Choice& choice) {
  const size_t mark = state_.mark();
  for (const uint32_t item : choice.items) {
    state_.place(item, choice.level);
    if (descend(slice, item)) return true;
    state_.undo(mark);
    if (gave_up_) return false;
  }
  if (!choice.may_waste) return false;
  state_.raise(choice.section, choice.next);
  if (descend(slice, kNoItem)) return true;
  state_.undo(mark);
  return false;
}

bool ValleySearch::descend(Slice slice, uint32_t without) {
  const size_t begin = pool_.size();
  for (size_t k = slice.begin; k < slice.end; ++k) {
    if (pool_[k] != without) pool_.push_back(pool_[k]);
  }
  ++depth_;
  const bool done = expand({begin, pool_.size()});
  --depth_;
  pool_.resize(begin);
  return done;
}

// Choosing the next decision.

// Maximal ranges of sections that are connected by waiting items, the tightest first.
std::vector<ValleySearch::Part> ValleySearch::parts_of(Slice slice) const {
  Part all{kNoSection, 0, 0};
  for (size_t k = slice.begin; k < slice.end; ++k) {
    all.lower = std::min(all.lower, problem_.items[pool_[k]].lower);
    all.upper = std::max(all.upper, problem_.items[pool_[k]].upper);
  }
  std::vector<Part> parts;
  for (uint32_t s = all.lower; s < all.upper; ++s) {
    if (state_.section(s).waiting == 0) continue;
    if (!state_.section(s).is_joined) parts.push_back({s, s, ValleyState::kNowhere});
    parts.back().upper = s + 1;
    parts.back().slack = std::min(parts.back().slack, state_.slack(s));
  }
  std::ranges::stable_sort(parts, {}, &Part::slack);
  return parts;
}

// In a valley, the section with the fewest choices; frequent failures of updates reduce the count.
uint32_t ValleySearch::choose_section(const Part& part) const {
  uint32_t best = kNoSection;
  std::tuple<double, uint64_t, uint64_t> least;
  const auto level = [&](uint32_t s) { return state_.section(s).level; };
  for (uint32_t end = part.lower; end < part.upper;) {
    const uint32_t begin = end;
    for (++end; end < part.upper && level(end) == level(begin);) ++end;
    if (begin > part.lower && level(begin - 1) < level(begin)) continue;
    if (end < part.upper && level(end) < level(begin)) continue;
    for (uint32_t s = begin; s < end; ++s) {
      const double choices = state_.section(s).options + (state_.slack(s) > 0 ? 1 : 0);
      const std::tuple rank(choices * choices / (state_.failures(s) + 1), level(s),
                            state_.slack(s));
      if (best != kNoSection && rank >= least) continue;
      best = s;
      least = rank;
    }
  }
  return best;
}

// Nothing lies at the level only if the next higher support for an item of the section (the level
// of a neighbour, or an item beside the section) leaves room for all of its items.
ValleySearch::Choice ValleySearch::choice_at(Slice slice, uint32_t section) const {
  const auto lives_in = [section](const Item& item) {
    return item.lower <= section && section < item.upper;
  };
  Choice choice{{}, section, state_.section(section).level, ValleyState::kNowhere, false};
  const std::span<const uint32_t> waiting(pool_.data() + slice.begin, slice.end - slice.begin);
  for (const uint32_t i : waiting) {
    const Item& item = problem_.items[i];
    if (!lives_in(item)) continue;
    if (state_.low(i) > choice.level) {
      choice.next = std::min(choice.next, state_.low(i));
      break;
    }
    if (!state_.is_later_twin(i)) choice.items.push_back(i);
    if (state_.slack(section) == 0) continue;
    for (const uint32_t below : waiting) {
      if (state_.low(below) >= choice.next) break;
      const Item& other = problem_.items[below];
      if (other.lower >= item.upper || item.lower >= other.upper || lives_in(other)) continue;
      choice.next = std::min(choice.next, state_.low(below) + other.size);
    }
  }
  choice.may_waste =
      choice.next != ValleyState::kNowhere && choice.next - choice.level <= state_.slack(section);
  return choice;
}

void ValleySearch::sort_by_weight(Choice& choice, const Part& part) const {
  const auto level = [&](uint32_t s) { return state_.section(s).level; };
  uint32_t lower = choice.section;
  uint32_t upper = choice.section + 1;
  while (lower > part.lower && level(lower - 1) == choice.level) --lower;
  while (upper < part.upper && level(upper) == choice.level) ++upper;
  std::vector<std::pair<double, uint32_t>> ranked;
  for (const uint32_t i : choice.items) {
    const Item& item = problem_.items[i];
    const uint64_t top = choice.level + item.size;
    const bool is_left = item.lower == lower;
    const bool is_right = item.upper == upper;
    const bool is_flush = (is_left && lower > part.lower && level(lower - 1) == top) ||
                          (is_right && upper < part.upper && level(upper) == top);
    ranked.emplace_back(
        -scores_[i] - weights_.edge * (is_left + is_right) - weights_.flush * is_flush, i);
  }
  std::ranges::sort(ranked);
  for (size_t k = 0; k < ranked.size(); ++k) choice.items[k] = ranked[k].second;
}

// The state is identified by the waiting items and the levels of their sections: whether they can
// be placed depends on nothing else.
FailedStates::Key ValleySearch::key_of(Slice slice, const Part& part) const {
  FailedStates::Key key;
  const auto add = [&key](uint64_t what) {
    key.low += scramble(what);
    key.high += scramble(~what);
  };
  for (size_t k = slice.begin; k < slice.end; ++k) add(pool_[k]);
  for (uint32_t s = part.lower; s < part.upper; ++s) {
    add(scramble(state_.section(s).level) + (uint64_t{s} << 32));
  }
  return key;
}

}  // namespace ephost::plan
