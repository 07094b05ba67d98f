// GapPlacer of placement.h.

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "host/plan/placement/placement.h"

namespace ephost::plan {
namespace {

constexpr uint64_t kUnplaced = std::numeric_limits<uint64_t>::max();

struct Placed {
  uint64_t offset = 0;
  uint64_t end = 0;
  uint32_t lower = 0;
  uint32_t upper = 0;
};

// Visits what lies around an item, from the bottom up.
class GapFinder {
 public:
  GapFinder(uint64_t size, Fit fit) : size_(size), fit_(fit) {}

  // Returns false if the remaining items do not matter.
  bool see(const Placed& other) {
    if (other.offset > top_) {
      const uint64_t gap = other.offset - top_;
      if (gap >= size_ && gap < smallest_) {
        smallest_ = gap;
        chosen_ = top_;
        if (fit_ == Fit::kFirst || gap == size_) return false;
      }
    }
    top_ = std::max(top_, other.end);
    return true;
  }
  // The chosen gap, or else the top of everything seen.
  [[nodiscard]] uint64_t offset() const { return chosen_ == kUnplaced ? top_ : chosen_; }

 private:
  uint64_t size_;
  Fit fit_;
  uint64_t top_ = 0;
  uint64_t smallest_ = std::numeric_limits<uint64_t>::max();
  uint64_t chosen_ = kUnplaced;
};

// Placed items by ascending offset, in blocks that are short enough for insertion. Each block
// stores the range of time in which any of its items lives.
class Shelf {
 public:
  void insert(const Placed& placed);

  // Calls `see` for each item that lives in [lower, upper) until it returns false. Adds the number
  // of examined items to `work`.
  template <class See>
  void visit(uint32_t lower, uint32_t upper, See see, uint64_t& work) const {
    for (const Block& block : blocks_) {
      ++work;
      if (block.lower >= upper || block.upper <= lower) continue;
      work += block.items.size();
      for (const Placed& placed : block.items) {
        if (placed.lower < upper && lower < placed.upper && !see(placed)) return;
      }
    }
  }

 private:
  static constexpr size_t kMaxInBlock = 128;
  struct Block {
    uint32_t lower = std::numeric_limits<uint32_t>::max();
    uint32_t upper = 0;
    std::vector<Placed> items;

    void cover(const Placed& placed) {
      lower = std::min(lower, placed.lower);
      upper = std::max(upper, placed.upper);
    }
  };

  void split(size_t at);

  std::vector<Block> blocks_;
};

void Shelf::insert(const Placed& placed) {
  if (blocks_.empty()) blocks_.emplace_back();
  const auto starts_above = [&](const Block& block) {
    return !block.items.empty() && block.items.front().offset > placed.offset;
  };
  const auto above = std::partition_point(blocks_.begin() + 1, blocks_.end(),
                                          [&](const Block& b) { return !starts_above(b); });
  Block& block = *std::prev(above);
  const auto at = std::ranges::upper_bound(block.items, placed.offset, {}, &Placed::offset);
  block.items.insert(at, placed);
  block.cover(placed);
  if (block.items.size() > kMaxInBlock) split(static_cast<size_t>(&block - blocks_.data()));
}

void Shelf::split(size_t at) {
  const std::vector<Placed> items = std::move(blocks_[at].items);
  const auto middle = items.begin() + static_cast<ptrdiff_t>(items.size() / 2);
  Block low;
  Block high;
  low.items.assign(items.begin(), middle);
  high.items.assign(middle, items.end());
  for (Block* block : {&low, &high}) {
    for (const Placed& placed : block->items) block->cover(placed);
  }
  blocks_[at] = std::move(low);
  blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(at) + 1, std::move(high));
}

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

GapPlacer::GapPlacer(const Problem& problem) : problem_(problem) {
  constexpr uint64_t kMaxPairsPerItem = 64;  // above this, a shelf is faster
  const uint64_t n = problem.items.size();
  const uint64_t pairs = count_overlaps(problem.items);
  if (pairs <= kMaxPairsPerItem * n) find_neighbours();
}

// Sweeps twice over the items by their start, first to count the pairs.
void GapPlacer::find_neighbours() {
  const std::vector<Item>& items = problem_.items;
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return items[i].lower; });
  const auto for_each_pair = [&](auto visit) {
    std::vector<uint32_t> active;
    for (const uint32_t i : order) {
      std::erase_if(active, [&](uint32_t other) { return items[other].upper <= items[i].lower; });
      for (const uint32_t other : active) visit(i, other);
      active.push_back(i);
    }
  };
  first_neighbour_.assign(items.size() + 1, 0);
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

std::optional<Packing> GapPlacer::place(std::span<const uint32_t> order, Fit fit, uint64_t limit,
                                        uint64_t& work_left) const {
  constexpr uint64_t kSorting = 8;  // cost of collecting and sorting relative to examining an item
  Packing packing{std::vector<uint64_t>(problem_.items.size(), kUnplaced), 0};
  Shelf shelf;
  std::vector<Placed> around;
  uint64_t work = 0;
  const auto collect = [&](uint32_t i) {
    around.clear();
    for (uint32_t k = first_neighbour_[i]; k < first_neighbour_[i + 1]; ++k) {
      const uint64_t offset = packing.offsets[neighbours_[k]];
      if (offset == kUnplaced) continue;
      around.push_back({offset, offset + problem_.items[neighbours_[k]].size, 0, 0});
    }
    std::ranges::sort(around, {}, &Placed::offset);
    work += kSorting * (1 + first_neighbour_[i + 1] - first_neighbour_[i]);
  };
  for (const uint32_t i : order) {
    const auto& [lower, upper, size] = problem_.items[i];
    GapFinder finder(size, fit);
    const auto see = [&](const Placed& other) { return finder.see(other); };
    if (has_neighbours()) {
      collect(i);
      static_cast<void>(std::ranges::all_of(around, see));
    } else {
      shelf.visit(lower, upper, see, work);
    }
    const uint64_t offset = finder.offset();
    packing.offsets[i] = offset;
    packing.peak = std::max(packing.peak, offset + size);
    if (packing.peak >= limit || work > work_left) break;
    if (!has_neighbours()) shelf.insert({offset, offset + size, lower, upper});
  }
  const bool done = packing.peak < limit && work <= work_left;
  work_left -= std::min(work, work_left);
  if (!done) return std::nullopt;
  return packing;
}

}  // namespace ephost::plan
