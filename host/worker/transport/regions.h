// The shared memory of the host that a worker has mapped: what the host has told it, and the
// worker's own map from regions to addresses.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/base/files/file_descriptor.h"
#include "host/base/memory/shared_mapping.h"
#include "host/base/memory/shared_memory.h"

namespace ephost::worker {

// The host's side, one for each worker. Safe from any thread.
class KnownRegions {
 public:
  // Whether the worker has not got the region yet. Then the caller sends it a duplicate of the
  // descriptor before anything refers to the region, and calls `confirm` when the worker has it.
  // (Two threads may send the same region; the worker takes the second one for the first.)
  [[nodiscard]] bool needs(const SharedRegion& region) const;
  void confirm(const SharedRegionPtr& region) { confirm(region->id, region); }
  // The same for one that may be gone already.
  void confirm(uint64_t id, std::weak_ptr<const SharedRegion> region);
  // The region with that number if the worker has it and the host has not removed it; or null.
  [[nodiscard]] SharedRegionPtr find(uint64_t id) const;
  // The regions that the worker has and the host has removed since the last call; the caller tells
  // the worker to unmap them. Cheap when no region was removed.
  [[nodiscard]] std::vector<uint64_t> take_removed();
  // The worker was not told.
  void give_back(std::span<const uint64_t> removed);

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<uint64_t, std::weak_ptr<const SharedRegion>> known_;
  uint64_t generation_ = 0;
};

// A region of at least this size is mapped by a worker at a multiple of it: the greatest alignment
// that a computation may ask for.
inline constexpr size_t kLargeRegion = size_t{2} << 20;

// The worker's side. Safe from any thread.
class MappedRegions {
 public:
  MappedRegions() = default;
  MappedRegions(const MappedRegions&) = delete;
  MappedRegions& operator=(const MappedRegions&) = delete;

  // Maps `size` bytes from `offset` of the file (any offset, not only whole pages). A region that
  // is mapped already stays as it is.
  [[nodiscard]] Status add(uint64_t id, const FileDescriptor& descriptor, uint64_t offset,
                           size_t size, SharedAccess access);
  void remove(uint64_t id);

  // The bytes at a place of a region; INVALID_ARGUMENT if they are not all in it.
  [[nodiscard]] Result<std::span<std::byte>> translate(uint64_t id, uint64_t offset,
                                                       size_t size) const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<uint64_t, SharedMapping> mappings_;
};

}  // namespace ephost::worker
