// The use of the cache store by a session. A session with the configuration entry `ep.cache_dir`
// looks there for what its providers compiled earlier; `ep.cache_max_bytes` and
// `ep.cache_max_age_days` limit the size and the age of the store.
#pragma once

#include <cstdint>
#include <string>

namespace ephost {

struct CacheUse {
  enum class Outcome {
    kOff,       // no store is configured
    kHit,       // nothing was compiled
    kMiss,      // compiled what no older entry had, and stored for the next session
    kUncached,  // compiled or loaded without the store
  };
  Outcome outcome = Outcome::kOff;
  std::string key;  // key of the entry; empty if it was not computed
  // The number of partitions whose contexts were taken over from older entries instead of being
  // compiled; 0 for a hit, which compiles nothing.
  uint64_t reused_contexts = 0;
  std::string reason;  // why uncached, or why an existing entry was not used; else empty
};

}  // namespace ephost
