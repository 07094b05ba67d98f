// The parts of place_buffers: the problem in units of the alignment, its lower bound, the orders in
// which buffers are tried, and the rules that choose an offset. Used inside host/plan only.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace ephost::plan {

// A buffer of size > 0 in units, and the sections in which it lives.
struct Item {
  uint32_t lower = 0;
  uint32_t upper = 0;
  uint64_t size = 0;
};

// Instead of the number of an item.
inline constexpr uint32_t kNoItem = std::numeric_limits<uint32_t>::max();

// Time is divided into sections in which the same items live. Sections whose items all live in a
// neighbouring section too are omitted, as they add no constraints:
//
//   time      0 1 2 3 4 5         section   0 1 2
//   item 0    a a a                         a
//   item 1      b b b b b    ->             b b b
//   item 2          c                         c
//   item 3              d                       d
//
// The total size of all items fits in 64 bits, so offsets never overflow.
struct Problem {
  std::vector<Item> items;
  std::vector<uint64_t> live;  // by section: total size of its items

  [[nodiscard]] uint32_t sections() const { return static_cast<uint32_t>(live.size()); }
};

// Converts the times of `items` to sections and totals the live sizes.
[[nodiscard]] Problem make_problem(std::vector<Item> items);

// The largest live total: a lower bound for all placements.
[[nodiscard]] uint64_t lower_bound_of(const Problem& problem);

// Permutations of the items, most promising first.
[[nodiscard]] std::vector<std::vector<uint32_t>> placement_orders(const Problem& problem);

struct Packing {
  std::vector<uint64_t> offsets;  // by item
  uint64_t peak = 0;
};

// Computes the peak of the offsets as well.
[[nodiscard]] Packing packing_of(const Problem& problem, std::vector<uint64_t> offsets);

// Places each item on top of all earlier items that live at the same time. Fast for any number of
// items.
[[nodiscard]] Packing place_on_top(const Problem& problem, std::span<const uint32_t> order);

// Fills the lowest valley first, with the first item in the order that lives within it. Subtracts
// the work done from `work_left`; returns nothing if that runs out, or if the peak would reach
// `limit`.
[[nodiscard]] std::optional<Packing> place_by_skyline(const Problem& problem,
                                                      std::span<const uint32_t> order,
                                                      uint64_t limit, uint64_t& work_left);

enum class Fit : uint8_t {
  kFirst,  // the lowest gap that is large enough
  kBest,   // the smallest gap that is large enough; ties go to the lowest
};

// Places items into gaps. The constructor finds the pairs of items that live at the same time if
// these are few; otherwise each item is compared with all placed ones.
class GapPlacer {
 public:
  explicit GapPlacer(const Problem& problem);

  // Subtracts the work done from `work_left`; returns nothing if that runs out, or if the peak
  // would reach `limit`.
  [[nodiscard]] std::optional<Packing> place(std::span<const uint32_t> order, Fit fit,
                                             uint64_t limit, uint64_t& work_left) const;

 private:
  [[nodiscard]] bool has_neighbours() const { return !first_neighbour_.empty(); }
  void find_neighbours();

  const Problem& problem_;
  // Items alive at the same time as item i: neighbours_[first_neighbour_[i] .. first_neighbour_[i +
  // 1]). Empty if there are too many pairs.
  std::vector<uint32_t> first_neighbour_;
  std::vector<uint32_t> neighbours_;
};

}  // namespace ephost::plan
