#include "host/runtime/pattern_cache.h"

namespace ephost::runtime {

size_t PatternCache::KeyHash::operator()(const ShapeKey& key) const {
  uint64_t hash = key.size();
  for (const int64_t extent : key) {
    hash = (hash ^ static_cast<uint64_t>(extent)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32;
  }
  return static_cast<size_t>(hash);
}

std::shared_ptr<const TracedPattern> PatternCache::find(const ShapeKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

size_t PatternCache::size() {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void PatternCache::clear() {
  const std::lock_guard lock(mutex_);
  by_key_.clear();
  entries_.clear();
}

void PatternCache::insert(ShapeKey key, std::shared_ptr<const TracedPattern> pattern) {
  if (capacity_ == 0) return;
  const std::lock_guard lock(mutex_);
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    entries_.erase(known->second);
    by_key_.erase(known);
  }
  entries_.emplace_front(key, std::move(pattern));
  by_key_.emplace(std::move(key), entries_.begin());
  if (entries_.size() <= capacity_) return;
  by_key_.erase(entries_.back().first);
  entries_.pop_back();
}

}  // namespace ephost::runtime
