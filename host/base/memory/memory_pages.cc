#include "host/base/memory/memory_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace ephost {

size_t MemoryPages::page_size() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

MemoryPages::MemoryPages(size_t size) {
  const size_t page = page_size();
  if (size > SIZE_MAX - page) throw std::bad_alloc();
  size = (size + page - 1) / page * page;
  void* const mapped =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapping_ = {static_cast<std::byte*>(mapped), Unmap{size}};
}

void MemoryPages::Unmap::operator()(std::byte* mapping) const noexcept { ::munmap(mapping, size); }

bool MemoryPages::set_access(std::span<std::byte> pages, Access access) noexcept {
  const int protection = access == Access::kNone
                             ? PROT_NONE
                             : PROT_READ | (access == Access::kReadWrite ? PROT_WRITE : 0);
  return ::mprotect(pages.data(), pages.size(), protection) == 0;
}

bool MemoryPages::retire() noexcept {
  if (!set_access({data(), size()}, Access::kNone)) return false;
  ::madvise(data(), size(), MADV_DONTNEED);
  return true;
}

}  // namespace ephost
