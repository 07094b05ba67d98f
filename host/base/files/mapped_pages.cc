#include "host/base/files/mapped_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "host/base/format.h"
#include "host/base/memory/shared_memory.h"
#include "host/base/named_ranges.h"
#include "host/base/text.h"

namespace ephost {
namespace {

struct Mapping {
  uintptr_t end = 0;
  FileVersion file;
  std::filesystem::path path;
  NamedRange range;        // for the report of a crash, should the file be truncated
  bool is_shared = false;  // or it was tried
  SharedRegionPtr region;  // null: it cannot be shared, or was not asked for
};

struct Mappings {
  std::mutex mutex;
  std::map<uintptr_t, Mapping> by_address;
};

// Never destroyed: other objects with static storage duration may own mapped files.
Mappings& mappings() {
  static auto* instance = new Mappings;
  return *instance;
}

uintptr_t address_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<uintptr_t>(bytes.data());
}

// Returns the mapping that contains this address, or null. The caller holds the mutex.
std::pair<const uintptr_t, Mapping>* mapping_around(uintptr_t address) {
  auto mapping = mappings().by_address.upper_bound(address);
  if (mapping == mappings().by_address.begin()) return nullptr;
  --mapping;
  return address < mapping->second.end ? &*mapping : nullptr;
}

int64_t nanoseconds(const struct timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The mapping was made from a descriptor that is closed by now, so the file is opened again.
SharedRegionPtr share(uintptr_t begin, const Mapping& mapping) {
  FileDescriptor file(::open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info = {};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0) return nullptr;
  if (!FileVersion::of(info).is_same(mapping.file)) return nullptr;
  const std::span bytes(reinterpret_cast<std::byte*>(begin), mapping.end - begin);
  return SharedRegions::add(bytes, std::move(file), 0, SharedAccess::kRead);
}

}  // namespace

FileVersion FileVersion::of(const struct stat& info) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<uint64_t>(info.st_size),
          .modified = nanoseconds(info.st_mtim),
          .changed = nanoseconds(info.st_ctim),
          .opened = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

std::optional<FileVersion> FileVersion::at(const std::filesystem::path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return of(info);
}

void add_mapping(std::span<const std::byte> bytes, const FileVersion& file,
                 const std::filesystem::path& path) {
  NamedRange range(bytes.data(), bytes.size(),
                   "in the mapped file " + quote(path.filename().native()),
                   RangeOwner::kApplication);
  const std::lock_guard lock(mappings().mutex);
  mappings().by_address[address_of(bytes)] = {address_of(bytes) + bytes.size(), file, path,
                                              std::move(range)};
}

std::optional<MappedRange> find_mapped_range(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mappings().mutex);
  const auto* mapping = mapping_around(address_of(bytes));
  if (mapping == nullptr || address_of(bytes) + bytes.size() > mapping->second.end) {
    return std::nullopt;
  }
  return MappedRange{mapping->second.file, address_of(bytes) - mapping->first, bytes.size()};
}

bool OpenedFile::is_there() const {
  const std::optional<FileVersion> now = FileVersion::at(path);
  return now && now->is_same(version);
}

std::optional<OpenedFile> find_mapped_file(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mappings().mutex);
  const auto* mapping = mapping_around(address_of(bytes));
  if (mapping == nullptr) return std::nullopt;
  return OpenedFile{mapping->second.path, mapping->second.file};
}

Status check_unchanged(std::span<const std::byte> bytes) {
  const std::optional<OpenedFile> opened = find_mapped_file(bytes);
  if (!opened) return Status::ok_status();
  const std::optional<FileVersion> now = FileVersion::at(opened->path);
  const FileVersion& then = opened->version;
  const bool is_this_file = now && now->device == then.device && now->inode == then.inode;
  return is_this_file && !now->is_same(then) ? changed_meanwhile(opened->path)
                                             : Status::ok_status();
}

Status changed_meanwhile(const std::filesystem::path& path) {
  return {StatusCode::kFail,
          formatted("{} was changed or replaced after it had been read; create the session again",
                    quote(path.native()))};
}

void remove_mapping(std::span<const std::byte> bytes) noexcept {
  const std::lock_guard lock(mappings().mutex);
  const auto found = mappings().by_address.find(address_of(bytes));
  if (found == mappings().by_address.end()) return;
  if (found->second.region != nullptr) SharedRegions::remove(found->second.region);
  mappings().by_address.erase(found);
}

std::optional<SharedPlace> share_mapped_file(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mappings().mutex);
  auto* const around = mapping_around(address_of(bytes));
  if (around == nullptr) return std::nullopt;
  auto& [begin, mapping] = *around;
  const uintptr_t offset = address_of(bytes) - begin;
  if (bytes.size() > mapping.end - address_of(bytes)) return std::nullopt;
  if (!mapping.is_shared) {
    mapping.is_shared = true;
    mapping.region = share(begin, mapping);
  }
  if (mapping.region == nullptr) return std::nullopt;
  return SharedPlace{mapping.region, offset};
}

std::optional<std::filesystem::path> find_truncated_file() {
  const std::lock_guard lock(mappings().mutex);
  for (const auto& [begin, mapping] : mappings().by_address) {
    struct stat info = {};
    if (mapping.region == nullptr || ::fstat(mapping.region->descriptor.get(), &info) != 0)
      continue;
    if (static_cast<uint64_t>(info.st_size) < mapping.end - begin) return mapping.path;
  }
  return std::nullopt;
}

void release_pages(std::span<const std::byte> bytes) {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::lock_guard lock(mappings().mutex);  // prevents unmapping meanwhile
  const auto* mapping = mapping_around(address_of(bytes));
  if (mapping == nullptr) return;
  const uintptr_t end = std::min(address_of(bytes) + bytes.size(), mapping->second.end);
  const uintptr_t first_page = (address_of(bytes) + page - 1) / page * page;
  const uintptr_t end_page = end / page * page;
  if (first_page >= end_page) return;
  // This is only advice; it is harmless if the system ignores it.
  ::madvise(reinterpret_cast<void*>(first_page), end_page - first_page, MADV_DONTNEED);
}

}  // namespace ephost
