#include "host/plan/placement/placement.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <tuple>
#include <utility>

namespace ephost::plan {
namespace {

// The largest live total in any range [lower, upper), by a table of powers of two.
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
    assert(lower < upper);
    const uint32_t width = std::bit_floor(upper - lower);
    const std::vector<uint64_t>& level = levels_[static_cast<size_t>(std::countr_zero(width))];
    return std::max(level[lower], level[upper - width]);
  }

 private:
  std::vector<std::vector<uint64_t>> levels_;
};

// The filled height at each time, as a segment tree over time: raising a range and querying the
// maximum of a range take logarithmic time.
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
  // Node `at` covers [begin, end); depth is the logarithm of the number of times.
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
  std::vector<uint64_t> whole_;    // the height of the node's whole range
  std::vector<uint64_t> highest_;  // the maximum within the node's range
};

}  // namespace

// Sweeps over time: a section ends where a buffer ends after one has begun.
Problem make_problem(std::vector<Item> items) {
  struct Event {
    uint32_t time;
    bool begins;  // ends come before beginnings at the same time
    uint32_t item;
  };
  std::vector<Event> events;
  events.reserve(2 * items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    events.push_back({items[i].lower, true, i});
    events.push_back({items[i].upper, false, i});
  }
  std::ranges::sort(events, {}, [](const Event& event) {
    return std::tuple(event.time, event.begins, event.item);
  });
  Problem problem;
  uint64_t live = 0;
  bool is_open = false;
  for (const Event& event : events) {
    Item& item = items[event.item];
    if (event.begins) {
      item.lower = static_cast<uint32_t>(problem.live.size());
      live += item.size;
    } else {
      if (is_open) problem.live.push_back(live);
      item.upper = static_cast<uint32_t>(problem.live.size());
      live -= item.size;
    }
    is_open = event.begins;
  }
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

Packing packing_of(const Problem& problem, std::vector<uint64_t> offsets) {
  uint64_t peak = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    peak = std::max(peak, offsets[i] + problem.items[i].size);
  }
  return {std::move(offsets), peak};
}

Packing place_on_top(const Problem& problem, std::span<const uint32_t> order) {
  std::vector<uint64_t> offsets(problem.items.size());
  Tops tops(problem.sections());
  for (const uint32_t i : order) {
    const Item& item = problem.items[i];
    offsets[i] = tops.highest(item.lower, item.upper);
    tops.raise(item.lower, item.upper, offsets[i] + item.size);
  }
  return packing_of(problem, std::move(offsets));
}

}  // namespace ephost::plan
