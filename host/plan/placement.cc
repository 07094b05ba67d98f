#include "host/plan/placement.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace ephost::plan {
namespace {

constexpr uint64_t kUnplaced = std::numeric_limits<uint64_t>::max();

// Largest live sum in [lower, upper) for any such range, by a table of powers of two.
class RangeMax {
 public:
  explicit RangeMax(const std::vector<uint64_t>& values) : levels_{values} {
    for (size_t width = 1; 2 * width <= values.size(); width *= 2) {
      const std::vector<uint64_t>& below = levels_.back();
      std::vector<uint64_t> level(values.size() - 2 * width + 1);
      for (size_t i = 0; i < level.size(); ++i) level[i] = std::max(below[i], below[i + width]);
      levels_.push_back(std::move(level));
    }
  }

  [[nodiscard]] uint64_t query(uint32_t lower, uint32_t upper) const {
    const auto level = static_cast<size_t>(std::bit_width(upper - lower) - 1);
    return std::max(levels_[level][lower], levels_[level][upper - (uint32_t{1} << level)]);
  }

 private:
  std::vector<std::vector<uint64_t>> levels_;
};

// For every time how far up it is filled, as a segment tree over the times: raising a range and
// asking for the largest in a range take logarithmic time.
class Tops {
 public:
  explicit Tops(uint32_t times)
      : leaves_(std::bit_ceil(std::max(times, uint32_t{1}))),
        whole_(2 * size_t{leaves_}, 0),
        highest_(2 * size_t{leaves_}, 0) {}

  [[nodiscard]] uint64_t highest(uint32_t lower, uint32_t upper) const {
    return highest(1, 0, leaves_, lower, upper);
  }
  void raise(uint32_t lower, uint32_t upper, uint64_t to) {
    raise(1, 0, leaves_, lower, upper, to);
  }

 private:
  // `at` covers [begin, end); depth is the logarithm of the number of times.
  [[nodiscard]] uint64_t highest(size_t at, uint32_t begin, uint32_t end, uint32_t lower,
                                 uint32_t upper) const {
    if (lower >= end || upper <= begin) return 0;
    if (lower <= begin && end <= upper) return highest_[at];
    const uint32_t middle = begin + (end - begin) / 2;
    return std::max({whole_[at], highest(2 * at, begin, middle, lower, upper),
                     highest(2 * at + 1, middle, end, lower, upper)});
  }
  void raise(size_t at, uint32_t begin, uint32_t end, uint32_t lower, uint32_t upper, uint64_t to) {
    if (lower >= end || upper <= begin) return;
    highest_[at] = std::max(highest_[at], to);
    if (lower <= begin && end <= upper) {
      whole_[at] = std::max(whole_[at], to);
      return;
    }
    const uint32_t middle = begin + (end - begin) / 2;
    raise(2 * at, begin, middle, lower, upper, to);
    raise(2 * at + 1, middle, end, lower, upper, to);
  }

  uint32_t leaves_;
  std::vector<uint64_t> whole_;    // what the node's whole range was raised to
  std::vector<uint64_t> highest_;  // the highest in the node's range
};

bool overlap(const Item& a, const Item& b) { return a.lower < b.upper && b.lower < a.upper; }

uint64_t count_overlaps(const std::vector<Item>& items) {
  std::vector<uint32_t> ends;
  ends.reserve(items.size());
  for (const Item& item : items) ends.push_back(item.upper);
  std::ranges::sort(ends);
  uint64_t apart = 0;
  for (const Item& item : items) {
    apart += static_cast<uint64_t>(std::ranges::upper_bound(ends, item.lower) - ends.begin());
  }
  const uint64_t n = items.size();
  return n * (n - std::min<uint64_t>(n, 1)) / 2 - apart;
}

}  // namespace

Problem make_problem(std::vector<Item> items) {
  std::vector<uint32_t> times;
  times.reserve(2 * items.size());
  for (const Item& item : items) {
    times.push_back(item.lower);
    times.push_back(item.upper);
  }
  std::ranges::sort(times);
  const auto [repeated, end] = std::ranges::unique(times);
  times.erase(repeated, end);
  const auto rank = [&](uint32_t time) {
    return static_cast<uint32_t>(std::ranges::lower_bound(times, time) - times.begin());
  };
  Problem problem;
  problem.times = static_cast<uint32_t>(times.size());
  problem.live.assign(times.size(), 0);
  for (Item& item : items) {
    item.lower = rank(item.lower);
    item.upper = rank(item.upper);
    // Differences first; unsigned wrap-around cancels in the sums below.
    problem.live[item.lower] += item.size;
    problem.live[item.upper] -= item.size;
  }
  std::partial_sum(problem.live.begin(), problem.live.end(), problem.live.begin());
  problem.items = std::move(items);
  return problem;
}

uint64_t lower_bound_of(const Problem& problem) {
  return problem.live.empty() ? 0 : std::ranges::max(problem.live);
}

std::vector<std::vector<uint32_t>> placement_orders(const Problem& problem) {
  const RangeMax live(problem.live);
  std::vector<uint32_t> indices(problem.items.size());
  std::iota(indices.begin(), indices.end(), 0U);
  std::vector<std::vector<uint32_t>> orders;
  // Larger keys first, then larger second keys, then by index.
  const auto add_order = [&](auto key) {
    using Key = decltype(key(problem.items[0], uint32_t{}));
    std::vector<Key> keys;
    keys.reserve(indices.size());
    for (const uint32_t i : indices) keys.push_back(key(problem.items[i], i));
    std::vector<uint32_t>& order = orders.emplace_back(indices);
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return keys[a] > keys[b]; });
  };
  const auto width = [](const Item& item) { return uint64_t{item.upper - item.lower}; };
  const auto area = [&](const Item& item) {
    return static_cast<double>(item.size) * static_cast<double>(width(item));
  };
  const auto touched = [&](const Item& item) { return live.query(item.lower, item.upper); };
  add_order([&](const Item& item, uint32_t) { return std::pair(area(item), item.size); });
  add_order([&](const Item& item, uint32_t) { return std::pair(width(item), item.size); });
  add_order([&](const Item& item, uint32_t) { return std::pair(item.size, width(item)); });
  add_order([&](const Item& item, uint32_t) { return std::pair(touched(item), area(item)); });
  add_order([&](const Item& item, uint32_t) { return std::pair(~item.lower, item.size); });
  add_order([&](const Item& item, uint32_t) { return std::pair(item.upper, item.size); });
  return orders;
}

Packing place_on_top(const Problem& problem, std::span<const uint32_t> order) {
  Packing packing{std::vector<uint64_t>(problem.items.size()), 0};
  Tops tops(problem.times);
  for (const uint32_t i : order) {
    const Item& item = problem.items[i];
    packing.offsets[i] = tops.highest(item.lower, item.upper);
    const uint64_t end = packing.offsets[i] + item.size;
    tops.raise(item.lower, item.upper, end);
    packing.peak = std::max(packing.peak, end);
  }
  return packing;
}

GapPlacer::GapPlacer(const Problem& problem) : problem_(problem) {
  constexpr uint64_t kMostPairs = 4'000'000;  // 32 MB of neighbour lists
  const uint64_t pairs = count_overlaps(problem.items);
  if (pairs <= kMostPairs) {
    find_neighbours();
    work_ = problem.items.size() + pairs;
  } else {
    // Comparing costs about a quarter of collecting and sorting.
    work_ = problem.items.size() * problem.items.size() / 8;
  }
}

std::vector<uint32_t> GapPlacer::by_start() const {
  std::vector<uint32_t> order(problem_.items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return problem_.items[i].lower; });
  return order;
}

// Sweeps twice over the items by their start, the first time to count.
void GapPlacer::find_neighbours() {
  const std::vector<uint32_t> order = by_start();
  const auto for_each_pair = [&](auto visit) {
    std::vector<uint32_t> active;
    for (const uint32_t i : order) {
      const uint32_t now = problem_.items[i].lower;
      std::erase_if(active, [&](uint32_t other) { return problem_.items[other].upper <= now; });
      for (const uint32_t other : active) visit(i, other);
      active.push_back(i);
    }
  };
  first_neighbour_.assign(problem_.items.size() + 1, 0);
  for_each_pair([&](uint32_t a, uint32_t b) {
    ++first_neighbour_[a + 1];
    ++first_neighbour_[b + 1];
  });
  std::partial_sum(first_neighbour_.begin(), first_neighbour_.end(), first_neighbour_.begin());
  neighbours_.resize(first_neighbour_.back());
  std::vector<uint32_t> next(first_neighbour_.begin(), first_neighbour_.end() - 1);
  for_each_pair([&](uint32_t a, uint32_t b) {
    neighbours_[next[a]++] = b;
    neighbours_[next[b]++] = a;
  });
}

// What is placed already and lives at the same time as `item`, by ascending offset.
void GapPlacer::collect(uint32_t item, std::span<const uint64_t> offsets,
                        std::span<const Placed> placed, std::vector<Placed>& around) const {
  around.clear();
  if (!has_neighbours()) {
    for (const Placed& other : placed) {
      if (overlap(problem_.items[other.item], problem_.items[item])) around.push_back(other);
    }
    return;
  }
  for (uint32_t i = first_neighbour_[item]; i < first_neighbour_[item + 1]; ++i) {
    const uint32_t other = neighbours_[i];
    if (offsets[other] == kUnplaced) continue;
    around.push_back({offsets[other], offsets[other] + problem_.items[other].size, other});
  }
  std::ranges::sort(around, {}, &Placed::offset);
}

uint64_t GapPlacer::choose(std::span<const Placed> around, uint64_t size, Fit fit) {
  uint64_t top = 0;
  uint64_t chosen = kUnplaced;
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  for (const Placed& other : around) {
    if (other.offset > top && other.offset - top >= size && other.offset - top < smallest) {
      if (fit == Fit::kFirst) return top;
      smallest = other.offset - top;
      chosen = top;
    }
    top = std::max(top, other.end);
  }
  return chosen == kUnplaced ? top : chosen;
}

std::optional<Packing> GapPlacer::place(std::span<const uint32_t> order, Fit fit,
                                        uint64_t limit) const {
  Packing packing{std::vector<uint64_t>(problem_.items.size(), kUnplaced), 0};
  std::vector<Placed> placed;  // by ascending offset; kept only where there are no neighbour lists
  std::vector<Placed> around;
  for (const uint32_t i : order) {
    collect(i, packing.offsets, placed, around);
    const uint64_t size = problem_.items[i].size;
    const uint64_t offset = choose(around, size, fit);
    packing.offsets[i] = offset;
    packing.peak = std::max(packing.peak, offset + size);
    if (packing.peak >= limit) return std::nullopt;
    if (has_neighbours()) continue;
    const auto at = std::ranges::upper_bound(placed, offset, {}, &Placed::offset);
    placed.insert(at, {offset, offset + size, i});
  }
  return packing;
}

}  // namespace ephost::plan
