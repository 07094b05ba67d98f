#include "host/layers/validate/runs/guarded_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace ephost::layers {
namespace {

using Access = MemoryPages::Access;

constexpr std::byte kZone{0xC7};
constexpr std::byte kRetired{0xDD};
constexpr size_t kZoneBytes = 256;

}  // namespace

GuardedMemory::GuardedMemory(size_t size, size_t alignment, Guard guard, std::byte fill,
                             std::string_view name, Side side)
    : size_(size) {
  const size_t page = MemoryPages::page_size();
  const bool with_pages = guard == Guard::kPages;
  if (size > SIZE_MAX / 4) throw std::bad_alloc();
  front_ = with_pages ? round_up(page, alignment) : 0;
  usable_ = round_up(2 * kZoneBytes + size + 2 * alignment, page);
  const size_t total = front_ + usable_ + (with_pages ? page : 0);
  pages_ = MemoryPages(total);
  if (with_pages) {
    take_away(pages_.data(), front_, "before " + std::string(name), before_);
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
  if (!MemoryPages::set_access({from, size}, Access::kNone)) throw std::bad_alloc();
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

void GuardedMemory::make_read_only() noexcept {
  MemoryPages::set_access({begin(), usable_}, Access::kRead);
}

void GuardedMemory::retire(std::string_view name) noexcept {
  if (pages_.data() == nullptr) return;
  if (has_pages() && pages_.retire()) {
    is_readable_ = false;
    before_ = {};
    behind_ = NamedRange(pages_.data(), pages_.size(), name);
  } else if (MemoryPages::set_access({begin(), usable_}, Access::kReadWrite)) {
    std::memset(begin(), static_cast<int>(kRetired), usable_);
  } else {
    is_readable_ = false;
  }
}

bool GuardedMemory::was_written_late() const {
  if (pages_.data() == nullptr || !is_readable_) return false;
  return std::any_of(begin(), begin() + usable_, [](std::byte byte) { return byte != kRetired; });
}

}  // namespace ephost::layers
