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
                             std::string_view name, Side side)
    : size_(size) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const bool with_pages = guard == Guard::kPages;
  if (size > SIZE_MAX / 4) throw std::bad_alloc();
  front_ = with_pages ? round_up(page, alignment) : 0;
  usable_ = round_up(2 * kZoneBytes + size + 2 * alignment, page);
  const size_t total = front_ + usable_ + (with_pages ? page : 0);
  void* const mapped =
      ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapping_ = {static_cast<std::byte*>(mapped), Unmap{total}};
  if (with_pages) {
    take_away(mapping_.get(), front_, "before " + std::string(name), before_);
    take_away(begin() + usable_, page, "behind " + std::string(name), behind_);
  }
  data_ = place(alignment, with_pages ? side : Side::kBehind, with_pages ? 0 : kZoneBytes);
  std::memset(begin(), static_cast<int>(kZone), usable_);
  if (size != 0) std::memset(data_, static_cast<int>(fill), size);
}

// As close to the end on that side as the alignment and the zone allow.
std::byte* GuardedMemory::place(size_t alignment, Side side, size_t zone) const {
  const auto first = reinterpret_cast<uintptr_t>(begin());
  const uintptr_t least = round_up(first, alignment);
  const uintptr_t greatest = (first + usable_ - zone - size_) / alignment * alignment;
  return reinterpret_cast<std::byte*>(side == Side::kBefore ? least : greatest);
}

void GuardedMemory::take_away(std::byte* from, size_t size, const std::string& name,
                              NamedRange& range) {
  if (::mprotect(from, size, PROT_NONE) != 0) throw std::bad_alloc();
  range = NamedRange(from, size, name + " (rule 25)");
}

GuardedMemory::Damage GuardedMemory::damage() const {
  Damage found;
  const auto differs = [](std::byte byte) { return byte != kZone; };
  const std::byte* const first = std::find_if(static_cast<const std::byte*>(begin()),
                                              static_cast<const std::byte*>(data_), differs);
  found.before = static_cast<size_t>(data_ - first);
  const std::byte* const behind = data_ + size_;
  for (const std::byte* one = begin() + usable_; one != behind; --one) {
    if (!differs(one[-1])) continue;
    found.behind = static_cast<size_t>(one - behind);
    break;
  }
  return found;
}

void GuardedMemory::make_read_only() noexcept { (void)::mprotect(begin(), usable_, PROT_READ); }

void GuardedMemory::retire(std::string_view name) noexcept {
  if (mapping_ == nullptr) return;
  const size_t total = mapping_.get_deleter().size;
  if (has_pages() && ::mprotect(mapping_.get(), total, PROT_NONE) == 0) {
    is_readable_ = false;
    ::madvise(mapping_.get(), total, MADV_DONTNEED);
    before_ = {};
    behind_ = NamedRange(mapping_.get(), total, name);
  } else if (::mprotect(begin(), usable_, PROT_READ | PROT_WRITE) == 0) {
    std::memset(begin(), static_cast<int>(kRetired), usable_);
  } else {
    is_readable_ = false;
  }
}

bool GuardedMemory::was_written_late() const {
  if (mapping_ == nullptr || !is_readable_) return false;
  return std::any_of(begin(), begin() + usable_, [](std::byte byte) { return byte != kRetired; });
}

}  // namespace ephost::layers
