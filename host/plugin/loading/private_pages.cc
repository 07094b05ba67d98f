#include "host/plugin/loading/private_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <exception>
#include <system_error>
#include <vector>

#include "host/base/format.h"

namespace ephost::plugin {
namespace {

// What of a segment comes from the file, in whole pages.
struct Pages {
  std::byte* begin = nullptr;
  size_t size = 0;
  int protection = 0;
};

struct Search {
  uintptr_t address = 0;
  size_t page_size = 0;
  std::vector<Pages> found;
};

int protection_of(const ElfW(Phdr) & segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// The loader holds a lock while it calls this.
int add_segments(dl_phdr_info* info, size_t, void* out_search) noexcept {
  Search& search = *static_cast<Search*>(out_search);
  try {
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD) continue;
      const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      if (search.found.empty() && begin != search.address) return 0;
      const uintptr_t first = begin & ~(search.page_size - 1);
      const uintptr_t end = begin + segment.p_filesz;
      const size_t size = (end - first + search.page_size - 1) & ~(search.page_size - 1);
      search.found.push_back({reinterpret_cast<std::byte*>(first), size, protection_of(segment)});
    }
    return search.found.empty() ? 0 : 1;
  } catch (const std::exception&) {
    search.found.clear();
    return 1;
  }
}

bool copy(const Pages& pages, size_t page_size) {
  if (pages.size == 0) return true;
  if (::mprotect(pages.begin, pages.size, PROT_READ | PROT_WRITE) != 0) return false;
  for (size_t at = 0; at < pages.size; at += page_size) {
    volatile std::byte* const byte = pages.begin + at;
    *byte = *byte;  // writing makes the copy
  }
  return ::mprotect(pages.begin, pages.size, pages.protection) == 0;
}

}  // namespace

Status take_private_pages(uintptr_t address) {
  Search search{.address = address, .page_size = static_cast<size_t>(::sysconf(_SC_PAGESIZE))};
  ::dl_iterate_phdr(add_segments, &search);
  if (search.found.empty()) {
    return Status(StatusCode::kFail, "the segments of a loaded library cannot be found");
  }
  for (const Pages& pages : search.found) {
    if (copy(pages, search.page_size)) continue;
    return Status(StatusCode::kFail, formatted("the pages of a loaded library cannot be copied: {}",
                                               std::generic_category().message(errno)));
  }
  return {};
}

}  // namespace ephost::plugin
