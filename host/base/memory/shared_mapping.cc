#include "host/base/memory/shared_mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ephost {
namespace {

struct FilePart {
  int descriptor;
  off_t offset;
  int protection;
};

// As mmap, but at a multiple of `alignment`.
void* map_aligned(const FilePart& part, size_t size, size_t page, size_t alignment) {
  const size_t whole = (size + page - 1) / page * page;
  void* const reserved = ::mmap(nullptr, whole + alignment, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return reserved;
  auto* const begin = static_cast<std::byte*>(reserved);
  const size_t before = alignment - reinterpret_cast<uintptr_t>(begin) % alignment;
  void* const mapped = ::mmap(begin + before, size, part.protection, MAP_SHARED | MAP_FIXED,
                              part.descriptor, part.offset);
  const int reason = errno;
  ::munmap(begin, mapped == MAP_FAILED ? whole + alignment : before);
  if (mapped != MAP_FAILED && before < alignment) {
    ::munmap(begin + before + whole, alignment - before);
  }
  errno = reason;
  return mapped;
}

Status mapping_failure(std::string reason) { return {StatusCode::kFail, std::move(reason)}; }

}  // namespace

Result<SharedMapping> SharedMapping::map(const FileDescriptor& descriptor, uint64_t offset,
                                         size_t size, SharedAccess access, size_t alignment) {
  struct stat info = {};
  if (::fstat(descriptor.get(), &info) != 0) return mapping_failure("its descriptor is not open");
  const auto end = static_cast<uint64_t>(info.st_size);
  if (size == 0 || offset > end || size > end - offset) {
    return mapping_failure("it lies beyond the end of its file");
  }
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = offset % page;
  const FilePart part{descriptor.get(), static_cast<off_t>(offset - before),
                      PROT_READ | (access == SharedAccess::kReadWrite ? PROT_WRITE : 0)};
  void* const address = alignment == 1 ? ::mmap(nullptr, before + size, part.protection, MAP_SHARED,
                                                part.descriptor, part.offset)
                                       : map_aligned(part, before + size, page, alignment);
  if (address == MAP_FAILED) return mapping_failure(std::generic_category().message(errno));
  SharedMapping mapping;
  mapping.pages_ = {static_cast<std::byte*>(address), before + size};
  mapping.bytes_ = mapping.pages_.subspan(before);
  return mapping;
}

SharedMapping::SharedMapping(SharedMapping&& other) noexcept
    : pages_(std::exchange(other.pages_, {})), bytes_(std::exchange(other.bytes_, {})) {}

SharedMapping& SharedMapping::operator=(SharedMapping&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMapping::~SharedMapping() {
  if (!pages_.empty()) ::munmap(pages_.data(), pages_.size());
}

void discard_shared(std::span<std::byte> pages) noexcept {
  ::madvise(pages.data(), pages.size(), MADV_REMOVE);
}

}  // namespace ephost
