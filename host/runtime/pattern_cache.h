// Memory patterns of runs with open extents, by the exact shapes of their inputs. Patterns are
// traced: the first run with certain shapes records the sizes, and later runs use a pattern made
// from them. Bounded; the least recently used pattern is evicted first. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/plan/memory_pattern.h"
#include "host/plan/step_dependencies.h"
#include "host/plan/streams/stream_plan.h"

namespace ephost::runtime {

// The rank and the extents of each graph input, in order.
using ShapeKey = std::vector<int64_t>;

struct TracedPattern {
  plan::MemoryPattern pattern;
  std::vector<std::optional<uint64_t>> bytes;  // the traced sizes, by value id
  plan::StepDependencies dependencies;         // only if steps run in parallel
  plan::StreamPlan streams;                    // only if the program has streams
};

class PatternCache {
 public:
  // Keeps at most `capacity` patterns; with 0, none.
  explicit PatternCache(size_t capacity) : capacity_(capacity) {}

  // Null if these shapes were not traced yet, or their pattern was evicted.
  [[nodiscard]] std::shared_ptr<const TracedPattern> find(const ShapeKey& key);
  void insert(ShapeKey key, std::shared_ptr<const TracedPattern> pattern);
  // Forgets all patterns. Runs that use one keep it until they end.
  void clear();
  [[nodiscard]] size_t capacity() const { return capacity_; }
  [[nodiscard]] size_t size();

 private:
  struct KeyHash {
    size_t operator()(const ShapeKey& key) const;
  };
  using Entry = std::pair<ShapeKey, std::shared_ptr<const TracedPattern>>;

  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<ShapeKey, std::list<Entry>::iterator, KeyHash> by_key_;
  size_t capacity_;
};

}  // namespace ephost::runtime
