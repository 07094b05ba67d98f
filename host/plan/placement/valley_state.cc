#include "host/plan/placement/valley_state.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ephost::plan {

void ValleyState::Range::include(uint32_t from, uint32_t to) {
  lower = std::min(lower, from);
  upper = std::max(upper, to);
}

ValleyState::ValleyState(const Problem& problem)
    : problem_(problem),
      sections_(problem.sections()),
      failures_(problem.sections(), 0),
      low_(problem.items.size(), 0),
      twin_(problem.items.size()) {
  find_twins();
}

void ValleyState::find_twins() {
  const auto key = [this](uint32_t i) {
    const Item& item = problem_.items[i];
    return std::tuple(item.lower, item.upper, item.size);
  };
  std::vector<uint32_t> order(problem_.items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, key);
  for (size_t k = 0; k < order.size(); ++k) {
    const bool has_twin = k > 0 && key(order[k - 1]) == key(order[k]);
    twin_[order[k]] = order[has_twin ? k - 1 : k];
  }
}

void ValleyState::reset(uint64_t capacity) {
  capacity_ = capacity;
  floors_.assign(sections_.size(), 0);
  is_changed_.assign(sections_.size(), 1);
  offsets_.assign(problem_.items.size(), kNowhere);
  changes_.clear();
}

void ValleyState::place(uint32_t item, uint64_t offset) {
  const auto& [lower, upper, size] = problem_.items[item];
  offsets_[item] = offset;
  changes_.push_back({item, kNowhere});
  for (uint32_t s = lower; s < upper; ++s) raise(s, offset + size);
}

void ValleyState::raise(uint32_t section, uint64_t floor) {
  changes_.push_back({section, floors_[section]});
  floors_[section] = floor;
  is_changed_[section] = 1;
}

void ValleyState::undo(size_t mark) {
  for (; changes_.size() > mark; changes_.pop_back()) {
    const auto& [index, floor] = changes_.back();
    if (floor == kNowhere) {
      offsets_[index] = kNowhere;
    } else {
      floors_[index] = floor;
      is_changed_[index] = 1;
    }
  }
}

bool ValleyState::update(std::span<uint32_t> items) {
  Range changed = changed_range(items);
  update_lows(items, changed);
  if (changed.lower >= changed.upper) return true;
  const bool fits = stack(items, changed);
  std::fill(is_changed_.begin() + changed.lower, is_changed_.begin() + changed.upper, fits ? 0 : 1);
  return fits;
}

ValleyState::Range ValleyState::changed_range(std::span<const uint32_t> items) const {
  Range all;
  for (const uint32_t i : items) all.include(problem_.items[i].lower, problem_.items[i].upper);
  while (all.lower < all.upper && is_changed_[all.lower] == 0) ++all.lower;
  while (all.lower < all.upper && is_changed_[all.upper - 1] == 0) --all.upper;
  return all;
}

// Adds to `changed` the sections of the items whose lowest place has changed. As the items are
// nearly sorted already, insertion sort is fast.
void ValleyState::update_lows(std::span<uint32_t> items, Range& changed) {
  work_ += 4 * items.size();  // sorted here, copied and ranked by the search
  const Range floors = changed;
  for (size_t k = 0; k < items.size(); ++k) {
    const uint32_t i = items[k];
    const Item& item = problem_.items[i];
    if (item.lower < floors.upper && floors.lower < item.upper) {
      const uint64_t low =
          *std::max_element(floors_.begin() + item.lower, floors_.begin() + item.upper);
      work_ += item.upper - item.lower;
      if (low != low_[i]) changed.include(item.lower, item.upper);
      low_[i] = low;
    }
    size_t at = k;
    for (; at > 0 && low_[items[at - 1]] > low_[i]; --at) items[at] = items[at - 1];
    items[at] = i;
  }
}

// Stacks the items of each section by their lowest places; that is the lowest that they can reach
// together, considering this section only.
bool ValleyState::stack(std::span<const uint32_t> items, const Range& changed) {
  std::fill(sections_.begin() + changed.lower, sections_.begin() + changed.upper, Section{});
  work_ += changed.upper - changed.lower;
  for (const uint32_t i : items) {
    const Item& item = problem_.items[i];
    const uint32_t lower = std::max(item.lower, changed.lower);
    const uint32_t upper = std::min(item.upper, changed.upper);
    const uint64_t low = low_[i];
    const uint32_t option = is_later_twin(i) ? 0 : 1;
    for (uint32_t s = lower; s < upper; ++s) {
      Section& section = sections_[s];
      if (section.waiting == 0) section.level = low;
      section.waiting += item.size;
      section.top = std::max(section.top, low) + item.size;
      if (section.top > capacity_) {
        count_failure(s);
        return false;
      }
      if (section.level == low) section.options += option;
      if (s > item.lower) section.is_joined = true;
    }
    if (lower < upper) work_ += upper - lower;
  }
  return true;
}

}  // namespace ephost::plan
