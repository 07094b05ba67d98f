// What the cache store did for a session. A session with the configuration entry `ep.cache_dir`
// looks there for what its providers compiled before; `ep.cache_max_bytes` and
// `ep.cache_max_age_days` limit what is kept.
#pragma once

#include <string>

namespace ephost {

struct CacheUse {
  enum class Outcome {
    kOff,       // no store was asked
    kHit,       // nothing was compiled
    kMiss,      // compiled, and stored for the next session
    kUncached,  // compiled or loaded without the store
  };
  Outcome outcome = Outcome::kOff;
  std::string key;     // of the entry; empty if none was made
  std::string reason;  // why uncached, or why an entry that was there is no hit; else empty
};

}  // namespace ephost
