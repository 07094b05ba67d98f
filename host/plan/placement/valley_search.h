// An exact search for a placement within a given capacity. It fills the sections of time from the
// bottom up: in some valley (a run of sections at the same level with higher neighbours), it
// decides which item lies at the bottom of one of them, or that none does. Used inside host/plan
// only, where orders and rules (placement.h) miss the lower bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/plan/placement/placement.h"
#include "host/plan/placement/valley_state.h"

namespace ephost::plan {

enum class SearchResult : uint8_t { kFound, kImpossible, kGaveUp };

// States that lead to no placement, identified by a 128-bit hash. Drops entries when it is full.
class FailedStates {
 public:
  struct Key {
    uint64_t low = 0;
    uint64_t high = 0;

    bool operator==(const Key&) const = default;
  };

  FailedStates() { clear(); }

  void clear();
  [[nodiscard]] bool contains(const Key& key) const { return keys_[slot(key)] == key; }
  void add(const Key& key);

 private:
  [[nodiscard]] size_t slot(const Key& key) const { return key.low & (keys_.size() - 1); }
  void grow();

  std::vector<Key> keys_;  // the size is a power of two
  size_t used_ = 0;
};

// Deterministic: its behaviour depends on the problem, the order of its items, and earlier runs.
class ValleySearch {
 public:
  explicit ValleySearch(const Problem& problem);

  // Subtracts the work done from `work_left` and gives up when that runs out. Restarts with other
  // preferences and more and more nodes; what it learns about the problem helps later runs.
  [[nodiscard]] SearchResult run(uint64_t capacity, uint64_t& work_left);

  // By item, after kFound.
  [[nodiscard]] const std::vector<uint64_t>& offsets() const { return state_.offsets(); }

 private:
  // A range of pool_ with the items that wait in some range of sections.
  struct Slice {
    size_t begin = 0;
    size_t end = 0;
  };
  struct Part {
    uint32_t lower = 0;
    uint32_t upper = 0;
    uint64_t slack = 0;
  };
  // A decision in a section at its level: place one of the items there, or raise the level to
  // `next`.
  struct Choice {
    std::vector<uint32_t> items;
    uint32_t section = 0;
    uint64_t level = 0;
    uint64_t next = 0;
    bool may_waste = false;

    [[nodiscard]] size_t size() const { return items.size() + (may_waste ? 1 : 0); }
  };
  // Weights of an item, besides randomness, for its size, its lifetime, touching an end of its
  // valley, and filling the valley up to its rim.
  struct Weights {
    double size = 1;
    double width = 1;
    double edge = 0;
    double flush = 0;
  };

  void perturb_weights(uint64_t run);
  [[nodiscard]] bool expand(Slice slice);
  [[nodiscard]] bool expand_parts(Slice slice, std::span<const Part> parts);
  [[nodiscard]] bool branch(Slice slice, Choice& choice);
  [[nodiscard]] bool descend(Slice slice, uint32_t without);
  [[nodiscard]] std::vector<Part> parts_of(Slice slice) const;
  [[nodiscard]] uint32_t choose_section(const Part& part) const;
  [[nodiscard]] Choice choice_at(Slice slice, uint32_t section) const;
  void sort_by_weight(Choice& choice, const Part& part) const;
  [[nodiscard]] FailedStates::Key key_of(Slice slice, const Part& part) const;
  [[nodiscard]] std::span<uint32_t> items_of(Slice slice) {
    return std::span(pool_).subspan(slice.begin, slice.end - slice.begin);
  }

  const Problem& problem_;
  ValleyState state_;
  FailedStates failed_;
  Weights weights_;
  std::vector<double> scores_;  // by item
  std::vector<uint32_t> pool_;  // a stack of slices
  uint64_t capacity_ = 0;
  uint64_t nodes_left_ = 0;
  uint64_t work_limit_ = 0;
  uint32_t depth_ = 0;
  bool gave_up_ = false;
};

}  // namespace ephost::plan
