#include "host/base/named_ranges.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace ephost {

// `begin` is stored last and cleared first, so that a reader that sees it sees the rest.
struct RegisteredRange {
  static constexpr size_t kNameSize = 160;

  std::atomic<bool> is_taken{false};
  std::atomic<uintptr_t> begin{0};  // 0: not registered
  std::atomic<uintptr_t> end{0};
  std::atomic<size_t> name_size{0};
  std::atomic<RangeOwner> owner{RangeOwner::kHost};
  std::array<char, kNameSize> name = {};
};

namespace {

constexpr size_t kMaxRanges = 4096;
using Ranges = std::array<RegisteredRange, kMaxRanges>;

// Made at the first registration and never destroyed: a signal may come at any time.
constinit std::atomic<Ranges*> all_ranges{nullptr};
constinit std::atomic<size_t> next_candidate{0};

Ranges* ranges() {
  Ranges* known = all_ranges.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  auto* const made = new (std::nothrow) Ranges;
  if (made == nullptr) return nullptr;
  if (all_ranges.compare_exchange_strong(known, made)) return made;
  delete made;
  return known;
}

RegisteredRange* take() {
  Ranges* const all = ranges();
  if (all == nullptr) return nullptr;
  for (size_t tried = 0; tried < kMaxRanges; ++tried) {
    RegisteredRange& range = (*all)[next_candidate.fetch_add(1) % kMaxRanges];
    if (!range.is_taken.exchange(true, std::memory_order_acquire)) return &range;
  }
  return nullptr;
}

}  // namespace

NamedRange::NamedRange(const void* begin, size_t size, std::string_view name, RangeOwner owner)
    : range_(take()) {
  if (range_ == nullptr) return;
  const size_t copied = std::min(name.size(), RegisteredRange::kNameSize);
  std::memcpy(range_->name.data(), name.data(), copied);
  range_->name_size.store(copied, std::memory_order_relaxed);
  range_->owner.store(owner, std::memory_order_relaxed);
  const auto address = reinterpret_cast<uintptr_t>(begin);
  range_->end.store(address + size, std::memory_order_relaxed);
  range_->begin.store(address, std::memory_order_release);
}

NamedRange::NamedRange(NamedRange&& other) noexcept
    : range_(std::exchange(other.range_, nullptr)) {}

NamedRange& NamedRange::operator=(NamedRange&& other) noexcept {
  std::swap(range_, other.range_);
  return *this;
}

NamedRange::~NamedRange() {
  if (range_ == nullptr) return;
  range_->begin.store(0, std::memory_order_relaxed);
  range_->is_taken.store(false, std::memory_order_release);
}

FoundRange find_named_range(uintptr_t address) noexcept {
  const Ranges* const all = all_ranges.load(std::memory_order_acquire);
  if (all == nullptr) return {};
  for (const RegisteredRange& range : *all) {
    const uintptr_t begin = range.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= range.end.load(std::memory_order_relaxed)) {
      continue;
    }
    return {{range.name.data(), range.name_size.load(std::memory_order_relaxed)},
            range.owner.load(std::memory_order_relaxed)};
  }
  return {};
}

}  // namespace ephost
