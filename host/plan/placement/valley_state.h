// A partial placement that grows from the bottom up, as valley_search.h explores it: how far up
// each section is decided (its floor), and what that means for the items that wait. Used inside
// host/plan only.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "host/plan/placement/placement.h"

namespace ephost::plan {

// Changes are undone in reverse order. What follows from the floors is brought up to date by
// `update`, and only where something changed since.
class ValleyState {
 public:
  static constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

  // What the waiting items ask of a section. Without any it is a wall: infinitely high.
  struct Section {
    uint64_t level = kNowhere;  // its lowest item can be no lower; at least the floor
    uint64_t waiting = 0;       // sum of the sizes of its items
    uint64_t top = 0;           // how high they reach at least
    uint32_t options = 0;       // how many of them may lie at the level, twins counted once
    bool is_joined = false;     // some item lives here and in the section before
  };

  explicit ValleyState(const Problem& problem);

  // Begins anew, with nothing placed.
  void reset(uint64_t capacity);

  // `items` are all that wait in some range of sections. Sorts them by `low` and computes the
  // sections they live in; false if these are found not to fit into the capacity.
  [[nodiscard]] bool update(std::span<uint32_t> items);

  // Right for the items of the last update and for their sections.
  [[nodiscard]] uint64_t low(uint32_t item) const { return low_[item]; }
  [[nodiscard]] const Section& section(uint32_t section) const { return sections_[section]; }
  [[nodiscard]] uint64_t slack(uint32_t section) const {
    return capacity_ - sections_[section].level - sections_[section].waiting;
  }

  // Of items with the same size and life only the first that waits need be tried.
  [[nodiscard]] bool is_later_twin(uint32_t item) const {
    return twin_[item] != item && offsets_[twin_[item]] == kNowhere;
  }

  // Puts an item at an offset that is not below its floors.
  void place(uint32_t item, uint64_t offset);
  // Decides that nothing more begins below `floor` in a section.
  void raise(uint32_t section, uint64_t floor);

  [[nodiscard]] size_t mark() const { return changes_.size(); }
  void undo(size_t mark);

  [[nodiscard]] const std::vector<uint64_t>& offsets() const { return offsets_; }
  // How many failures of `update` showed in a section, and others that were blamed on it.
  [[nodiscard]] uint32_t failures(uint32_t section) const { return failures_[section]; }
  void blame(uint32_t section) { ++failures_[section]; }
  // Roughly how many items and sections were looked at.
  [[nodiscard]] uint64_t work() const { return work_; }

 private:
  struct Range {
    uint32_t lower = std::numeric_limits<uint32_t>::max();
    uint32_t upper = 0;

    void include(uint32_t from, uint32_t to);
  };
  struct Change {
    uint32_t index = 0;  // of a section, or of an item that was placed
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
