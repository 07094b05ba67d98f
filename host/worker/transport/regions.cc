#include "host/worker/transport/regions.h"

#include <mutex>
#include <utility>

#include "host/base/format.h"

namespace ephost::worker {
namespace {

Status map_error(uint64_t id, std::string_view reason) {
  return Status(StatusCode::kFail, formatted("cannot map shared region {}: {}", id, reason));
}

bool is_removed(const std::weak_ptr<const SharedRegion>& known) {
  const SharedRegionPtr region = known.lock();
  if (region == nullptr) return true;
  const std::optional<SharedPlace> place = SharedRegions::find(region->bytes);
  return !place || place->region != region;
}

}  // namespace

bool KnownRegions::needs(const SharedRegion& region) const {
  const std::shared_lock lock(mutex_);
  return !known_.contains(region.id);
}

void KnownRegions::confirm(uint64_t id, std::weak_ptr<const SharedRegion> region) {
  const std::unique_lock lock(mutex_);
  known_.emplace(id, std::move(region));
  generation_ = 0;  // it may be gone already
}

SharedRegionPtr KnownRegions::find(uint64_t id) const {
  const std::shared_lock lock(mutex_);
  const auto found = known_.find(id);
  return found == known_.end() ? nullptr : found->second.lock();
}

void KnownRegions::give_back(std::span<const uint64_t> removed) {
  const std::unique_lock lock(mutex_);
  for (const uint64_t id : removed) known_.try_emplace(id);
  generation_ = 0;
}

std::vector<uint64_t> KnownRegions::take_removed() {
  const uint64_t now = SharedRegions::generation();
  {
    const std::shared_lock lock(mutex_);
    if (generation_ == now) return {};
  }
  const std::unique_lock lock(mutex_);
  std::vector<uint64_t> removed;
  for (auto known = known_.begin(); known != known_.end();) {
    const bool is_gone = is_removed(known->second);
    if (is_gone) removed.push_back(known->first);
    known = is_gone ? known_.erase(known) : std::next(known);
  }
  generation_ = now;
  return removed;
}

Status MappedRegions::add(uint64_t id, const FileDescriptor& descriptor, uint64_t offset,
                          size_t size, SharedAccess access) {
  const std::unique_lock lock(mutex_);
  if (mappings_.contains(id)) return Status::ok_status();
  Result<SharedMapping> mapping =
      SharedMapping::map(descriptor, offset, size, access, size < kLargeRegion ? 1 : kLargeRegion);
  if (!mapping.ok()) return map_error(id, mapping.status().message());
  mappings_.emplace(id, *std::move(mapping));
  return Status::ok_status();
}

void MappedRegions::remove(uint64_t id) {
  const std::unique_lock lock(mutex_);
  mappings_.erase(id);
}

Result<std::span<std::byte>> MappedRegions::translate(uint64_t id, uint64_t offset,
                                                      size_t size) const {
  const std::shared_lock lock(mutex_);
  const auto found = mappings_.find(id);
  if (found == mappings_.end()) {
    return Status(StatusCode::kInvalidArgument, formatted("shared region {} is not mapped", id));
  }
  const std::span<std::byte> bytes = found->second.bytes();
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} bytes at {} lie outside of shared region {}, which has {}", size,
                            offset, id, bytes.size()));
  }
  return bytes.subspan(offset, size);
}

}  // namespace ephost::worker
