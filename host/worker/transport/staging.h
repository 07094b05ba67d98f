// The memory of a channel that both ends may write, for values: copies of those that lie in no
// region, and everything that the worker writes. The host's end; used by one thread at a time.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <vector>

#include "host/base/memory/shared_memory.h"
#include "host/worker/transport/regions.h"

namespace ephost::worker {

// A worker maps regions at pages, and large ones at a multiple of kLargeRegion, so that what is
// aligned in a region is aligned in the worker.
class Staging {
 public:
  // Everything that was taken is free again. What a call takes after the same call before it comes
  // from one block.
  void reset() noexcept;
  // `size` bytes, which is not 0, at a multiple of `alignment`, a power of two up to kLargeRegion.
  // They stay until `reset`. FAIL when memory or descriptors run out.
  [[nodiscard]] Result<SharedPlace> take(size_t size, size_t alignment = 64);

 private:
  std::vector<SharedMemory> blocks_;  // each is larger than all before it
  size_t used_ = 0;                   // bytes of the last one
};

}  // namespace ephost::worker
