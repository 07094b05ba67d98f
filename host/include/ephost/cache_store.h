// Maintenance of a cache store: what it holds, whether that is undamaged, and what is removed. The
// store is the one that sessions use with the configuration entry `ep.cache_dir`; `folder` is the
// value of that entry. Sessions of any process may use the store meanwhile.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
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

  std::filesystem::path folder;
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

// Errors of all functions: NO_SUCHFILE where there is no store, FAIL where something else is in its
// place or it cannot be read. The functions that remove also fail while another process keeps the
// store locked for more than ten seconds; after the first second the log names that process. All
// functions may be called from any thread.

// All items, the most recently used first.
[[nodiscard]] Result<std::vector<CacheItemDescription>> list_cache(
    const std::filesystem::path& folder);

// Compares the checksums of every entry, the most recently used first.
[[nodiscard]] Result<std::vector<CacheItemCheck>> verify_cache(const std::filesystem::path& folder);

// Removes quarantined entries, what exceeds the limits, least recently used first, and what dead
// processes left; nothing that is in use.
[[nodiscard]] Result<CacheRemoval> prune_cache(const std::filesystem::path& folder,
                                               const CacheLimits& limits = {});

// Removes everything that is not in use.
[[nodiscard]] Result<CacheRemoval> clear_cache(const std::filesystem::path& folder);

}  // namespace ephost
