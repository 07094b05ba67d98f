// Memory patterns of runs with open shapes, by the exact shapes of their inputs. A pattern is
// traced: the first run with certain shapes records the sizes, and later ones are placed
// beforehand. Bounded; the least recently used pattern goes first. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "host/plan/memory_pattern.h"
#include "host/plan/step_dependencies.h"

namespace ephost::runtime {

// The extents of all graph inputs, in order, each input led by its rank.
using ShapeKey = std::vector<int64_t>;

struct TracedPattern {
  plan::MemoryPattern pattern;
  std::vector<std::optional<uint64_t>> bytes;  // that it was made for, by value id
  plan::StepDependencies dependencies;         // for programs whose steps run in parallel
};

class PatternCache {
 public:
  explicit PatternCache(size_t capacity) : capacity_(capacity) {}

  // Null if these shapes were not traced yet, or were forgotten.
  [[nodiscard]] std::shared_ptr<const TracedPattern> find(const ShapeKey& key);
  void insert(ShapeKey key, std::shared_ptr<const TracedPattern> pattern);

 private:
  using Entry = std::pair<ShapeKey, std::shared_ptr<const TracedPattern>>;
  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  size_t capacity_;
};

}  // namespace ephost::runtime
