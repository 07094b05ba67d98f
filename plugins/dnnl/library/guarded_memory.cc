#include "plugins/dnnl/library/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace ephost_dnnl {
namespace {

constexpr std::byte kZone{0xC7};
constexpr std::size_t kZoneBytes = 256;  // at least, on the side that has accessible pages
constexpr std::size_t kAreaAlignment = 64;
constexpr std::size_t kGapPages = 16;

std::size_t rounded_up(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

}  // namespace

std::string to_text(const Touch& touch) {
  return std::string(touch.is_write ? "writes " : "reads ") + std::to_string(touch.distance) +
         (touch.distance == 1 ? " byte " : " bytes ") + (touch.is_before ? "before" : "behind");
}

void GuardedMemory::Unmap::operator()(std::byte* mapping) const { munmap(mapping, size); }

GuardedMemory::GuardedMemory(const std::vector<std::size_t>& sizes, Side side) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t gap = kGapPages * page;
  std::size_t total = gap;
  for (const std::size_t size : sizes) total += rounded_up(size + kZoneBytes, page) + gap;
  void* const mapped = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapping_ = {static_cast<std::byte*>(mapped), Unmap{total}};
  std::byte* begin = mapping_.get() + gap;
  for (const std::size_t size : sizes) {
    std::byte* const end = begin + rounded_up(size + kZoneBytes, page);
    place(size, side, begin, end);
    begin = end + gap;
  }
  watch_.emplace(mapping_.get(), total);
}

void GuardedMemory::place(std::size_t size, Side side, std::byte* begin, std::byte* end) {
  const auto length = static_cast<std::size_t>(end - begin);
  if (mprotect(begin, length, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  const std::size_t offset =
      side == Side::kBefore ? 0 : (length - size) / kAreaAlignment * kAreaAlignment;
  std::byte* const data = begin + offset;
  std::fill(begin, data, kZone);
  std::fill(data + size, end, kZone);
  areas_.push_back({data, size, begin, end});
}

std::optional<Touch> GuardedMemory::changed_zone(std::size_t area) const {
  const auto& [data, size, begin, end] = areas_[area];
  const auto differs = [](std::byte byte) { return byte != kZone; };
  const std::byte* const before = std::find_if(begin, data, differs);
  if (before != data) return Touch{area, true, true, static_cast<uint64_t>(data - before)};
  const std::byte* const behind = data + size;
  for (const std::byte* one = end; one != behind; --one) {
    if (!differs(one[-1])) continue;
    return Touch{area, true, false, static_cast<uint64_t>(one - behind)};
  }
  return std::nullopt;
}

Touch GuardedMemory::seen_from_an_area(const Fault& fault) const {
  Touch nearest = {0, fault.is_write, false, UINT64_MAX};
  for (std::size_t i = 0; i < areas_.size(); ++i) {
    const auto first = reinterpret_cast<uintptr_t>(areas_[i].data);
    const bool is_before = fault.address < first;
    const uint64_t distance =
        is_before ? first - fault.address : fault.address - first - areas_[i].size + 1;
    if (distance < nearest.distance) nearest = {i, fault.is_write, is_before, distance};
  }
  return nearest;
}

std::optional<Touch> GuardedMemory::touch() const {
  const std::optional<Fault> fault = watch_->fault();
  if (fault && fault->is_write) return seen_from_an_area(*fault);
  for (std::size_t i = 0; i < areas_.size(); ++i) {
    if (std::optional<Touch> changed = changed_zone(i)) return changed;
  }
  if (fault) return seen_from_an_area(*fault);
  return std::nullopt;
}

}  // namespace ephost_dnnl
