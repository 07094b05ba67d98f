// Contents of a cache store.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ephost {

struct CacheItem {
  enum class State {
    kEntry,
    kQuarantined,  // an entry that was found to be damaged
    kTemporary,    // an entry that is being written or removed, or that a dead process left
  };

  std::string folder;
  State state = State::kEntry;
  std::string key;     // empty for a temporary one
  uint64_t bytes = 0;  // of its files
  std::chrono::system_clock::time_point last_used;
};

// An item and the description in its files. What cannot be read is left empty.
struct CacheItemDescription {
  CacheItem item;
  std::vector<std::pair<std::string, std::string>> made_of;  // what the key is computed from
  std::string model_name;                                    // empty for a model from memory
  std::vector<std::string> providers;
  uint64_t partitions = 0;
  std::string problem;  // why it is quarantined, or why it cannot be described
};

struct CacheItemCheck {
  CacheItem item;
  std::vector<std::string> problems;  // one sentence each; none: undamaged
};

struct CacheRemoval {
  std::vector<CacheItem> removed;
  std::vector<CacheItem> in_use;  // that would have been removed
};

// What a store may hold; 0: no limit.
struct CacheLimits {
  uint64_t max_bytes = uint64_t{10} << 30;
  uint64_t max_age_days = 90;  // since the last use
};

}  // namespace ephost
