// The parts of place_buffers: the problem in units of the alignment, its lower bound, the orders in
// which buffers are tried and the rules that choose an offset. Used inside host/plan only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ephost::plan {

// A buffer of size > 0 in units; times are dense ranks of the times at which any buffer begins or
// ends, so that they are at most twice the number of buffers.
struct Item {
  uint32_t lower = 0;
  uint32_t upper = 0;
  uint64_t size = 0;
};

// Sums over all items fit into 64 bits, so offsets never overflow.
struct Problem {
  std::vector<Item> items;
  std::vector<uint64_t> live;  // by time rank: sum of sizes alive from it to the next
  uint32_t times = 0;
};

// Ranks the times of `items` in place and sums what is alive.
[[nodiscard]] Problem make_problem(std::vector<Item> items);

// The largest live sum: no placement is lower.
[[nodiscard]] uint64_t lower_bound_of(const Problem& problem);

// Permutations of the items, most promising first.
[[nodiscard]] std::vector<std::vector<uint32_t>> placement_orders(const Problem& problem);

struct Packing {
  std::vector<uint64_t> offsets;  // by item
  uint64_t peak = 0;
};

// Puts each item on top of everything placed before it that lives at the same time. Quick for any
// number of items.
[[nodiscard]] Packing place_on_top(const Problem& problem, std::span<const uint32_t> order);

// Fills the lowest valley first, with the first item in the order that lives within it. Takes what
// it looks at from `work_left`; nothing if that is used up, or if the peak would reach `limit`.
[[nodiscard]] std::optional<Packing> place_by_skyline(const Problem& problem,
                                                      std::span<const uint32_t> order,
                                                      uint64_t limit, uint64_t& work_left);

enum class Fit : uint8_t {
  kFirst,  // the lowest gap that is large enough
  kBest,   // the smallest one, the lowest of equals
};

// Places items into gaps. Construction finds which items live at the same time if these pairs are
// few; otherwise each item is compared with all placed ones.
class GapPlacer {
 public:
  explicit GapPlacer(const Problem& problem);

  // Roughly how many items a call of `place` looks at.
  [[nodiscard]] uint64_t work() const { return work_; }

  // Nothing if the peak would reach `limit`.
  [[nodiscard]] std::optional<Packing> place(std::span<const uint32_t> order, Fit fit,
                                             uint64_t limit) const;

 private:
  struct Placed {
    uint64_t offset = 0;
    uint64_t end = 0;
    uint32_t item = 0;
  };

  [[nodiscard]] bool has_neighbours() const { return !first_neighbour_.empty(); }
  void find_neighbours();
  [[nodiscard]] std::vector<uint32_t> by_start() const;
  void collect(uint32_t item, std::span<const uint64_t> offsets, std::span<const Placed> placed,
               std::vector<Placed>& around) const;
  [[nodiscard]] static uint64_t choose(std::span<const Placed> around, uint64_t size, Fit fit);

  const Problem& problem_;
  uint64_t work_ = 0;
  // Items alive at the same time as item i: neighbours_[first_neighbour_[i] ..
  // first_neighbour_[i + 1]). Empty if there are too many pairs.
  std::vector<uint32_t> first_neighbour_;
  std::vector<uint32_t> neighbours_;
};

}  // namespace ephost::plan
