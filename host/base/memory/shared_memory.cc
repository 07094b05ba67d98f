#include "host/base/memory/shared_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <utility>

#include "host/base/files/mapped_pages.h"
#include "host/base/format.h"

namespace ephost {
namespace {

struct Entry {
  SharedRegionPtr region;
  bool is_written = false;  // by this process at any time, so that a forked one needs its own
  bool is_private = false;  // since this process was forked: no other process can map it
  void* copy = MAP_FAILED;  // while this process forks: what the new one gets
};

struct Table {
  std::shared_mutex mutex;
  std::map<uintptr_t, Entry> by_end;  // by the address after the last byte
  uint64_t last_id = 0;
};

// Never destroyed: memory may be freed while the process ends.
Table& table() {
  static auto* const kTable = new Table;
  return *kTable;
}

uintptr_t end_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size();
}

std::optional<SharedPlace> find_in_table(std::span<const std::byte> bytes) {
  Table& all = table();
  const std::shared_lock lock(all.mutex);
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const auto found = all.by_end.upper_bound(begin);
  if (found == all.by_end.end()) return std::nullopt;
  const Entry& entry = found->second;
  const auto first = reinterpret_cast<uintptr_t>(entry.region->bytes.data());
  if (entry.is_private || begin < first || bytes.size() > found->first - begin) return std::nullopt;
  return SharedPlace{entry.region, begin - first};
}

// ---- Forks. Both processes would write the same pages, unlike all other memory of theirs.

// The copies are made here, since this process may write as soon as it has forked.
void prepare_fork() {
  Table& all = table();
  all.mutex.lock();
  for (auto& [end, entry] : all.by_end) {
    if (!entry.is_written || entry.is_private) continue;
    const std::span<std::byte> bytes = entry.region->bytes;
    entry.copy =
        ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (entry.copy != MAP_FAILED) std::memcpy(entry.copy, bytes.data(), bytes.size());
  }
}

void end_fork() {
  Table& all = table();
  for (auto& [end, entry] : all.by_end) {
    if (entry.copy != MAP_FAILED) ::munmap(entry.copy, entry.region->bytes.size());
    entry.copy = MAP_FAILED;
  }
  all.mutex.unlock();
}

// Memory that cannot be copied becomes unusable, which is better than wrong results in both.
void adopt(Entry& entry) {
  const std::span<std::byte> bytes = entry.region->bytes;
  const bool is_adopted = entry.copy != MAP_FAILED &&
                          ::mremap(entry.copy, bytes.size(), bytes.size(),
                                   MREMAP_MAYMOVE | MREMAP_FIXED, bytes.data()) != MAP_FAILED;
  if (!is_adopted) ::mprotect(bytes.data(), bytes.size(), PROT_NONE);
  entry.copy = MAP_FAILED;
  entry.is_private = true;
}

Status memory_error(std::string_view verb, size_t size) {
  const bool is_short = errno == ENOMEM || errno == ENOSPC;
  return Status(is_short ? StatusCode::kOutOfMemory : StatusCode::kFail,
                formatted("cannot {} {} bytes of shared memory: {}", verb, size,
                          std::generic_category().message(errno)));
}

size_t whole_pages(size_t size) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size > SIZE_MAX - page ? 0 : (size + page - 1) / page * page;
}

Result<FileDescriptor> create_memfd(std::string_view name, size_t size) {
  FileDescriptor memory(::memfd_create(std::string(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.is_open()) return memory_error("create", size);
  if (size > static_cast<size_t>(INT64_MAX) ||
      ::ftruncate(memory.get(), static_cast<off_t>(size)) != 0) {
    return memory_error("create", size);
  }
  return memory;
}

// The same file, opened such that this descriptor cannot write.
FileDescriptor reopen_for_reading(const FileDescriptor& memory) {
  const std::string path = formatted("/proc/self/fd/{}", memory.get());
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

std::atomic<uint64_t> SharedRegions::current_generation{0};
std::atomic<uint64_t> SharedMemoryUse::user_count{0};

SharedRegionPtr SharedRegions::add(std::span<std::byte> bytes, FileDescriptor descriptor,
                                   uint64_t offset, SharedAccess access) {
  return add_region(bytes, std::move(descriptor), offset, access, false);
}

// In the new process, where nothing may be called that takes a lock.
void SharedRegions::adopt_copies() {
  Table& all = table();
  for (auto& [end, entry] : all.by_end) {
    if (entry.is_written && !entry.is_private) adopt(entry);
  }
  current_generation.fetch_add(1, std::memory_order_release);
  // The thread that has locked it has another number here.
  new (&all.mutex) std::shared_mutex;
}

SharedRegionPtr SharedRegions::add_region(std::span<std::byte> bytes, FileDescriptor descriptor,
                                          uint64_t offset, SharedAccess access, bool is_written) {
  [[maybe_unused]] static const int kForks =
      ::pthread_atfork(&prepare_fork, &end_fork, &adopt_copies);
  Table& all = table();
  const std::unique_lock lock(all.mutex);
  SharedRegionPtr region = std::make_shared<const SharedRegion>(
      SharedRegion{++all.last_id, bytes, std::move(descriptor), offset, access});
  all.by_end.emplace(end_of(bytes), Entry{region, is_written});
  current_generation.fetch_add(1, std::memory_order_release);
  return region;
}

void SharedRegions::remove(const SharedRegionPtr& region) {
  Table& all = table();
  const std::unique_lock lock(all.mutex);
  const auto found = all.by_end.find(end_of(region->bytes));
  if (found == all.by_end.end() || found->second.region != region) return;
  all.by_end.erase(found);
  current_generation.fetch_add(1, std::memory_order_release);
}

std::optional<SharedPlace> SharedRegions::find(std::span<const std::byte> bytes) {
  if (std::optional<SharedPlace> place = find_in_table(bytes)) return place;
  return share_mapped_file(bytes);
}

Result<SharedMemory> SharedMemory::create(std::string_view name, size_t size, SharedAccess access) {
  const size_t rounded = whole_pages(size);
  EPHOST_ASSIGN_OR_RETURN(FileDescriptor memory, create_memfd(name, rounded));
  void* const address =
      ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (address == MAP_FAILED) return memory_error("map", rounded);
  const std::span bytes(static_cast<std::byte*>(address), rounded);
  // The mapping above stays writable; there will be no other one.
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL |
                    (access == SharedAccess::kRead ? F_SEAL_FUTURE_WRITE : 0);
  bool is_safe = ::fcntl(memory.get(), F_ADD_SEALS, seals) == 0;
  if (is_safe && access == SharedAccess::kRead) {
    memory = reopen_for_reading(memory);
    is_safe = memory.is_open();
  }
  if (!is_safe) {
    Status failure = memory_error("seal", rounded);
    ::munmap(address, rounded);
    return failure;
  }
  SharedMemory result;
  // What others write too is not for a process that is forked from this one.
  result.region_ =
      SharedRegions::add_region(bytes, std::move(memory), 0, access, access == SharedAccess::kRead);
  return result;
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(region_, other.region_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (region_ == nullptr) return;
  SharedRegions::remove(region_);
  ::munmap(region_->bytes.data(), region_->bytes.size());
}

std::span<std::byte> SharedMemory::bytes() const {
  return region_ == nullptr ? std::span<std::byte>() : region_->bytes;
}

Result<SealedMapping> SealedMapping::map(const FileDescriptor& descriptor, size_t size) {
  constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_WRITE;
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  struct stat info = {};
  if (seals < 0 || (seals & kNeeded) != kNeeded || ::fstat(descriptor.get(), &info) != 0) {
    return Status(StatusCode::kFail,
                  "a descriptor is not of memory that is sealed against shrinking and writing");
  }
  if (info.st_size < 0 || static_cast<size_t>(info.st_size) < size) {
    return Status(StatusCode::kFail, formatted("sealed memory has {} bytes instead of {}",
                                               static_cast<int64_t>(info.st_size), size));
  }
  SealedMapping mapping;
  if (size == 0) return mapping;
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (address == MAP_FAILED) return memory_error("map", size);
  mapping.bytes_ = std::span(static_cast<const std::byte*>(address), size);
  return mapping;
}

Result<FileDescriptor> SealedMapping::seal(std::string_view name,
                                           std::span<const std::byte> bytes) {
  EPHOST_ASSIGN_OR_RETURN(FileDescriptor memory, create_memfd(name, bytes.size()));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!write_all(memory.get(), text)) return memory_error("write", bytes.size());
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return memory_error("seal", bytes.size());
  return memory;
}

SealedMapping::SealedMapping(SealedMapping&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

SealedMapping& SealedMapping::operator=(SealedMapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

SealedMapping::~SealedMapping() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace ephost
