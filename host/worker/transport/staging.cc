#include "host/worker/transport/staging.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ephost::worker {
namespace {

constexpr size_t kMinBlock = size_t{64} << 10;
constexpr size_t kPage = 4096;

}  // namespace

void Staging::reset() noexcept {
  if (blocks_.size() > 1) blocks_.erase(blocks_.begin(), blocks_.end() - 1);
  used_ = 0;
}

Result<SharedPlace> Staging::take(size_t size, size_t alignment) {
  const size_t least = alignment > kPage ? kLargeRegion : 0;
  const size_t capacity = blocks_.empty() ? 0 : blocks_.back().bytes().size();
  const size_t begin = (used_ + alignment - 1) / alignment * alignment;
  if (capacity < least || begin > capacity || size > capacity - begin) {
    const size_t doubled = std::min(capacity, SIZE_MAX / 2) * 2;
    const size_t wanted = std::max({size, kMinBlock, least, doubled});
    EPHOST_ASSIGN_OR_RETURN(SharedMemory block, SharedMemory::create("ephost-staging", wanted,
                                                                     SharedAccess::kReadWrite));
    if (used_ == 0) blocks_.clear();
    blocks_.push_back(std::move(block));
    used_ = size;
    return SharedPlace{blocks_.back().region(), 0};
  }
  used_ = begin + size;
  return SharedPlace{blocks_.back().region(), begin};
}

}  // namespace ephost::worker
