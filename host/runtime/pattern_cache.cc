#include "host/runtime/pattern_cache.h"

#include <algorithm>

namespace ephost::runtime {

std::shared_ptr<const TracedPattern> PatternCache::find(const ShapeKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.first == key; });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->second;
}

void PatternCache::insert(ShapeKey key, std::shared_ptr<const TracedPattern> pattern) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.first == key; });
  entries_.emplace_front(std::move(key), std::move(pattern));
  if (entries_.size() > capacity_) entries_.pop_back();
}

}  // namespace ephost::runtime
