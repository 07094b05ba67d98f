#include "host/worker/transport/regions.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>
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

namespace {

// As mmap, at a multiple of kLargeRegion if it has that size.
void* map_shared(size_t size, size_t page, int protection, int file, off_t offset) {
  if (size < kLargeRegion) return ::mmap(nullptr, size, protection, MAP_SHARED, file, offset);
  const size_t whole = (size + page - 1) / page * page;
  void* const reserved = ::mmap(nullptr, whole + kLargeRegion, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return reserved;
  auto* const begin = static_cast<std::byte*>(reserved);
  const size_t before = kLargeRegion - reinterpret_cast<uintptr_t>(begin) % kLargeRegion;
  void* const mapped =
      ::mmap(begin + before, size, protection, MAP_SHARED | MAP_FIXED, file, offset);
  const int reason = errno;
  ::munmap(begin, mapped == MAP_FAILED ? whole + kLargeRegion : before);
  if (mapped != MAP_FAILED && before < kLargeRegion) {
    ::munmap(begin + before + whole, kLargeRegion - before);
  }
  errno = reason;
  return mapped;
}

}  // namespace

Result<FileDescriptor> duplicate(const FileDescriptor& descriptor) {
  FileDescriptor copy(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));
  if (copy.is_open()) return copy;
  return Status(StatusCode::kFail, formatted("cannot duplicate a descriptor: {}",
                                             std::generic_category().message(errno)));
}

MappedRegions::~MappedRegions() {
  for (const auto& [id, mapping] : mappings_) {
    ::munmap(mapping.pages.data(), mapping.pages.size());
  }
}

Status MappedRegions::add(uint64_t id, const FileDescriptor& descriptor, uint64_t offset,
                          size_t size, SharedAccess access) {
  const std::unique_lock lock(mutex_);
  if (mappings_.contains(id)) return Status::ok_status();
  struct stat info = {};
  if (::fstat(descriptor.get(), &info) != 0) return map_error(id, "its descriptor is not open");
  const auto end = static_cast<uint64_t>(info.st_size);
  if (size == 0 || offset > end || size > end - offset) {
    return map_error(id, "it lies beyond the end of its file");
  }
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = offset % page;
  const int protection = PROT_READ | (access == SharedAccess::kReadWrite ? PROT_WRITE : 0);
  void* const address = map_shared(before + size, page, protection, descriptor.get(),
                                   static_cast<off_t>(offset - before));
  if (address == MAP_FAILED) return map_error(id, std::generic_category().message(errno));
  const std::span pages(static_cast<std::byte*>(address), before + size);
  mappings_.emplace(id, Mapping{pages, pages.subspan(before)});
  return Status::ok_status();
}

void MappedRegions::remove(uint64_t id) {
  const std::unique_lock lock(mutex_);
  const auto found = mappings_.find(id);
  if (found == mappings_.end()) return;
  ::munmap(found->second.pages.data(), found->second.pages.size());
  mappings_.erase(found);
}

Result<std::span<std::byte>> MappedRegions::translate(uint64_t id, uint64_t offset,
                                                      size_t size) const {
  const std::shared_lock lock(mutex_);
  const auto found = mappings_.find(id);
  if (found == mappings_.end()) {
    return Status(StatusCode::kInvalidArgument, formatted("shared region {} is not mapped", id));
  }
  const std::span<std::byte> bytes = found->second.bytes;
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} bytes at {} lie outside of shared region {}, which has {}", size,
                            offset, id, bytes.size()));
  }
  return bytes.subspan(offset, size);
}

}  // namespace ephost::worker
