// The payloads that a provider restores computations from, as copies that become unusable when the
// provider is destroyed.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "host/layers/validate/runs/guarded_memory.h"

namespace ephost::layers {

// May be used by any thread.
class PayloadCopies {
 public:
  // `provider` is for the report of a crash.
  PayloadCopies(Guard guard, std::string provider)
      : guard_(guard), provider_(std::move(provider)) {}

  // A copy that can only be read, as the host's own; the same one for the same payload. Throws
  // std::bad_alloc if memory runs out.
  [[nodiscard]] eph_bytes copy(eph_bytes payload);

  // When the provider is gone.
  void retire() noexcept;
  // What they occupy.
  [[nodiscard]] size_t bytes() const;

 private:
  const Guard guard_;
  const std::string provider_;
  mutable std::mutex mutex_;
  std::map<std::pair<const void*, uint64_t>, GuardedMemory> copies_;
};

}  // namespace ephost::layers
