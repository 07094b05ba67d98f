#include "host/base/memory/system_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <limits>

namespace ephost {

uint64_t half_of_physical_memory() {
  const int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  const int64_t page_bytes = ::sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(pages) / 2 * static_cast<uint64_t>(page_bytes);
}

void return_freed_memory() { ::malloc_trim(0); }

}  // namespace ephost
