// A partial placement that grows from the bottom up, as valley_search.h explores it: the decided
// height of each section (its floor), and the consequences for the waiting items. Used inside
// host/plan only.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "host/plan/placement/placement.h"

namespace ephost::plan {

// Changes are undone in reverse order. `update` recomputes the consequences of the floors, and only
// where something changed.
class ValleyState {
 public:
  static constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

  // The demand of the waiting items on a section. A section without any is a wall: infinitely high.
  struct Section {
    uint64_t level = kNowhere;  // lower bound of its lowest item; at least the floor
    uint64_t waiting = 0;       // total size of its items
    uint64_t top = 0;           // lower bound of the height that they reach
    uint32_t options = 0;       // items that may lie at the level, counting twins once
    bool is_joined = false;     // an item lives here and in the previous section
  };

  explicit ValleyState(const Problem& problem);

  // Starts over with nothing placed.
  void reset(uint64_t capacity);

  // `items` are all waiting items of some range of sections. Sorts them by `low` and recomputes the
  // sections in which they live; returns false if they are found not to fit in the capacity.
  [[nodiscard]] bool update(std::span<uint32_t> items);

  // Valid for the items of the last update and for their sections.
  [[nodiscard]] uint64_t low(uint32_t item) const { return low_[item]; }
  [[nodiscard]] const Section& section(uint32_t section) const { return sections_[section]; }
  [[nodiscard]] uint64_t slack(uint32_t section) const {
    return capacity_ - sections_[section].level - sections_[section].waiting;
  }

  // Of items with the same size and lifetime, only the first one that waits needs to be tried.
  [[nodiscard]] bool is_later_twin(uint32_t item) const {
    return twin_[item] != item && offsets_[twin_[item]] == kNowhere;
  }

  // Places an item at an offset that is not below its floors.
  void place(uint32_t item, uint64_t offset);
  // Decides that no further item begins below `floor` in a section.
  void raise(uint32_t section, uint64_t floor);

  [[nodiscard]] size_t mark() const { return changes_.size(); }
  void undo(size_t mark);

  [[nodiscard]] const std::vector<uint64_t>& offsets() const { return offsets_; }
  // The number of failures of `update` that occurred in a section or were attributed to it.
  [[nodiscard]] uint32_t failures(uint32_t section) const { return failures_[section]; }
  void count_failure(uint32_t section) { ++failures_[section]; }
  // The approximate number of items and sections examined.
  [[nodiscard]] uint64_t work() const { return work_; }

 private:
  struct Range {
    uint32_t lower = std::numeric_limits<uint32_t>::max();
    uint32_t upper = 0;

    void include(uint32_t from, uint32_t to);
  };
  struct Change {
    uint32_t index = 0;  // of a section, or of a placed item
    uint64_t floor = 0;  // kNowhere for an item
  };

  void find_twins();
  [[nodiscard]] Range changed_range(std::span<const uint32_t> items) const;
  void update_lows(std::span<uint32_t> items, Range& changed);
  [[nodiscard]] bool stack(std::span<const uint32_t> items, const Range& changed);

  const Problem& problem_;
  uint64_t capacity_ = 0;
  std::vector<uint64_t> floors_;
  std::vector<uint8_t> is_changed_;  // by section, since it was last computed
  std::vector<Section> sections_;
  std::vector<uint32_t> failures_;
  std::vector<uint64_t> low_;      // by item: the highest floor under it
  std::vector<uint64_t> offsets_;  // kNowhere while it waits
  std::vector<uint32_t> twin_;     // the equal item before it, else itself
  std::vector<Change> changes_;
  uint64_t work_ = 0;
};

}  // namespace ephost::plan
