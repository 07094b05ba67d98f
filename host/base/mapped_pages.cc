#include "host/base/mapped_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

namespace ephost {
namespace {

struct Mappings {
  std::mutex mutex;
  std::map<uintptr_t, size_t> by_address;
};

// Never destroyed: mapped files may live in other objects of static storage.
Mappings& mappings() {
  static auto* instance = new Mappings;
  return *instance;
}

uintptr_t address_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<uintptr_t>(bytes.data());
}

}  // namespace

void add_mapping(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mappings().mutex);
  mappings().by_address[address_of(bytes)] = bytes.size();
}

void remove_mapping(std::span<const std::byte> bytes) noexcept {
  const std::lock_guard lock(mappings().mutex);
  mappings().by_address.erase(address_of(bytes));
}

void release_pages(std::span<const std::byte> bytes) {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::lock_guard lock(mappings().mutex);  // nothing is unmapped meanwhile
  auto mapping = mappings().by_address.upper_bound(address_of(bytes));
  if (mapping == mappings().by_address.begin()) return;
  --mapping;
  const uintptr_t end =
      std::min(address_of(bytes) + bytes.size(), mapping->first + mapping->second);
  const uintptr_t first_page = (address_of(bytes) + page - 1) / page * page;
  const uintptr_t end_page = end / page * page;
  if (first_page >= end_page) return;
  // Advice: it does no harm where the system declines it.
  ::madvise(reinterpret_cast<void*>(first_page), end_page - first_page, MADV_DONTNEED);
}

}  // namespace ephost
