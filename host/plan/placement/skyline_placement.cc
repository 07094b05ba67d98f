// place_by_skyline of placement.h: fills the lowest valley first, like the best-fit heuristic for
// strip packing (E. K. Burke, G. Kendall and G. Whitwell, "A New Placement Heuristic for the
// Orthogonal Stock-Cutting Problem", Operations Research 52(4), 2004), but with fixed times of the
// items.

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "host/plan/placement/placement.h"

namespace ephost::plan {
namespace {

// The filled height at each time, as runs of equal height; adjacent runs differ.
class Skyline {
 public:
  struct Run {
    uint32_t lower = 0;
    uint32_t upper = 0;
    uint64_t height = 0;
  };

  explicit Skyline(uint32_t times) { insert({0, times, 0}); }

  // The lowest run; the earliest in a tie.
  [[nodiscard]] Run lowest() const { return run_at(by_height_.begin()->second); }
  // The height of a run's lower neighbour; the largest number if it has none.
  [[nodiscard]] uint64_t rim(const Run& run) const;
  // Raises the part [lower, upper) of a run to `height`, which exceeds the run's height.
  void raise(const Run& run, uint32_t lower, uint32_t upper, uint64_t height);

 private:
  struct Rest {
    uint32_t upper = 0;
    uint64_t height = 0;
  };

  [[nodiscard]] Run run_at(uint32_t lower) const {
    const Rest& rest = runs_.at(lower);
    return {lower, rest.upper, rest.height};
  }
  void erase(const Run& run);
  void insert(Run run);

  std::map<uint32_t, Rest> runs_;                      // by lower
  std::set<std::pair<uint64_t, uint32_t>> by_height_;  // height and lower
};

uint64_t Skyline::rim(const Run& run) const {
  const auto at = runs_.find(run.lower);
  uint64_t lowest = std::numeric_limits<uint64_t>::max();
  if (at != runs_.begin()) lowest = std::prev(at)->second.height;
  const auto next = std::next(at);
  return next == runs_.end() ? lowest : std::min(lowest, next->second.height);
}

void Skyline::raise(const Run& run, uint32_t lower, uint32_t upper, uint64_t height) {
  erase(run);
  if (run.lower < lower) insert({run.lower, lower, run.height});
  if (upper < run.upper) insert({upper, run.upper, run.height});
  insert({lower, upper, height});
}

void Skyline::erase(const Run& run) {
  runs_.erase(run.lower);
  by_height_.erase({run.height, run.lower});
}

// Merges neighbours of equal height.
void Skyline::insert(Run run) {
  const auto after = runs_.find(run.upper);
  if (after != runs_.end() && after->second.height == run.height) {
    const Run joined = run_at(run.upper);
    run.upper = joined.upper;
    erase(joined);
  }
  const auto next = runs_.lower_bound(run.lower);
  if (next != runs_.begin()) {
    const Run before = run_at(std::prev(next)->first);
    if (before.upper == run.lower && before.height == run.height) {
      run.lower = before.lower;
      erase(before);
    }
  }
  runs_.insert_or_assign(run.lower, Rest{run.upper, run.height});
  by_height_.emplace(run.height, run.lower);
}

// The unplaced items, by start time and then by rank in the order.
class Waiting {
 public:
  Waiting(const Problem& problem, std::span<const uint32_t> order)
      : problem_(problem), order_(order), by_start_(problem.sections()), left_(order.size()) {
    for (uint32_t rank = 0; rank < order.size(); ++rank) starting(rank).push_back(rank);
  }

  [[nodiscard]] bool empty() const { return left_ == 0; }

  // Removes and returns the item of lowest rank that lives within a run; kNoItem if there is none.
  // Adds the number of times and items examined to `work`.
  [[nodiscard]] uint32_t take(const Skyline::Run& run, uint64_t& work) {
    uint32_t best = kNoItem;
    for (uint32_t time = run.lower; time < run.upper; ++time, ++work) {
      for (const uint32_t rank : by_start_[time]) {
        ++work;
        if (rank >= best) break;
        if (problem_.items[order_[rank]].upper <= run.upper) best = rank;
      }
    }
    if (best == kNoItem) return kNoItem;
    std::erase(starting(best), best);
    --left_;
    return order_[best];
  }

 private:
  [[nodiscard]] std::vector<uint32_t>& starting(uint32_t rank) {
    return by_start_[problem_.items[order_[rank]].lower];
  }

  const Problem& problem_;
  std::span<const uint32_t> order_;
  std::vector<std::vector<uint32_t>> by_start_;  // ascending ranks
  size_t left_;
};

}  // namespace

std::optional<Packing> place_by_skyline(const Problem& problem, std::span<const uint32_t> order,
                                        uint64_t limit, uint64_t& work_left) {
  Packing packing{std::vector<uint64_t>(problem.items.size()), 0};
  Skyline skyline(problem.sections());
  Waiting waiting(problem, order);
  constexpr uint64_t kStep = 500;  // cost of changing the skyline relative to examining an item
  uint64_t work = 0;
  while (!waiting.empty() && packing.peak < limit && work <= work_left) {
    work += kStep;
    const Skyline::Run run = skyline.lowest();
    const uint32_t i = waiting.take(run, work);
    if (i == kNoItem) {
      skyline.raise(run, run.lower, run.upper, skyline.rim(run));
      continue;
    }
    const Item& item = problem.items[i];
    packing.offsets[i] = run.height;
    packing.peak = std::max(packing.peak, run.height + item.size);
    skyline.raise(run, item.lower, item.upper, run.height + item.size);
  }
  work_left -= std::min(work, work_left);
  if (!waiting.empty() || packing.peak >= limit) return std::nullopt;
  return packing;
}

}  // namespace ephost::plan
