#include "host/layers/validate/runs/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace ephost::layers {
namespace {

constexpr std::byte kZone{0xC7};
constexpr std::byte kRetired{0xDD};
constexpr size_t kZoneBytes = 256;

}  // namespace

void GuardedMemory::Unmap::operator()(std::byte* mapping) const { ::munmap(mapping, size); }

GuardedMemory::GuardedMemory(size_t size, size_t alignment, Guard guard, std::byte fill,
                             std::string_view name)
    : size_(size) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t behind = guard == Guard::kPages ? page : 0;
  const size_t zone = guard == Guard::kPages ? 0 : kZoneBytes;
  if (size > SIZE_MAX / 4) throw std::bad_alloc();
  usable_ = round_up(kZoneBytes + size + zone + 2 * alignment, page);
  const size_t total = usable_ + behind;
  void* const mapped =
      ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapping_ = {static_cast<std::byte*>(mapped), Unmap{total}};
  if (behind != 0 && ::mprotect(mapping_.get() + usable_, behind, PROT_NONE) != 0) {
    throw std::bad_alloc();
  }
  if (behind != 0) {
    range_ = plugin::GuardRange(mapping_.get() + usable_, behind,
                                "behind " + std::string(name) + " (rule 25)");
  }
  // As close to the upper end as the alignment allows.
  const auto end = reinterpret_cast<uintptr_t>(mapping_.get()) + usable_ - zone - size;
  data_ = reinterpret_cast<std::byte*>(end / alignment * alignment);
  std::memset(mapping_.get(), static_cast<int>(kZone), usable_);
  if (size != 0) std::memset(data_, static_cast<int>(fill), size);
}

GuardedMemory::Damage GuardedMemory::damage() const {
  Damage found;
  const auto differs = [](std::byte byte) { return byte != kZone; };
  const std::byte* const begin = mapping_.get();
  const std::byte* const first = std::find_if(begin, static_cast<const std::byte*>(data_), differs);
  found.before = static_cast<size_t>(data_ - first);
  const std::byte* const behind = data_ + size_;
  for (const std::byte* one = begin + usable_; one != behind; --one) {
    if (!differs(one[-1])) continue;
    found.behind = static_cast<size_t>(one - behind);
    break;
  }
  return found;
}

void GuardedMemory::make_read_only() noexcept {
  (void)::mprotect(mapping_.get(), usable_, PROT_READ);
}

void GuardedMemory::retire(std::string_view name) noexcept {
  if (mapping_ == nullptr) return;
  const size_t total = mapping_.get_deleter().size;
  if (total != usable_ && ::mprotect(mapping_.get(), total, PROT_NONE) == 0) {
    is_readable_ = false;
    ::madvise(mapping_.get(), total, MADV_DONTNEED);
    range_ = plugin::GuardRange(mapping_.get(), total, name);
  } else if (::mprotect(mapping_.get(), usable_, PROT_READ | PROT_WRITE) == 0) {
    std::memset(mapping_.get(), static_cast<int>(kRetired), usable_);
  } else {
    is_readable_ = false;
  }
}

bool GuardedMemory::was_written_late() const {
  if (mapping_ == nullptr || !is_readable_) return false;
  const std::byte* const begin = mapping_.get();
  return std::any_of(begin, begin + usable_, [](std::byte byte) { return byte != kRetired; });
}

}  // namespace ephost::layers
