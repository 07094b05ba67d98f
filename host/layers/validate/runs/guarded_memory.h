// Memory for a value that a plugin gets, between zones that must not be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "host/base/memory/memory_pages.h"
#include "host/base/named_ranges.h"
#include "host/layers/validate/validate_options.h"

namespace ephost::layers {

// The smallest multiple of `unit` that is at least `size`; the caller keeps it from overflowing.
[[nodiscard]] constexpr size_t round_up(size_t size, size_t unit) {
  return (size + unit - 1) / unit * unit;
}

class GuardedMemory {
 public:
  // At which end of its pages the memory lies: with Guard::kPages, next to one without access.
  enum class Side : uint8_t { kBehind, kBefore };

  // Aligned to `alignment`, a power of two of at least 64, and filled with `fill`. `name` is for
  // the report of a crash, e.g. "output 0 of compute of "conv1"". Throws std::bad_alloc if memory
  // runs out.
  GuardedMemory(size_t size, size_t alignment, Guard guard, std::byte fill,
                std::string_view name = {}, Side side = Side::kBehind);
  GuardedMemory(GuardedMemory&&) noexcept = default;
  GuardedMemory& operator=(GuardedMemory&&) noexcept = default;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

  // How far beyond its ends the memory was written; zeros if nowhere.
  struct Damage {
    size_t before = 0;  // in bytes, from the start downwards
    size_t behind = 0;  // from the end upwards
  };
  [[nodiscard]] Damage damage() const;

  // From here on any write into the memory crashes, if the system can do that.
  void make_read_only() noexcept;

  // After the call: overwrites everything, or with Guard::kPages takes all access away. `name` says
  // what lay there.
  void retire(std::string_view name) noexcept;
  // Whether the memory was written since then.
  [[nodiscard]] bool was_written_late() const;
  // What it occupies.
  [[nodiscard]] size_t footprint() const { return usable_; }

 private:
  [[nodiscard]] std::byte* place(size_t alignment, Side side, size_t zone) const;
  void take_away(std::byte* from, size_t size, const std::string& name, NamedRange& range);
  [[nodiscard]] std::byte* begin() const { return pages_.data() + front_; }
  [[nodiscard]] bool has_pages() const { return front_ != 0; }

  MemoryPages pages_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t front_ = 0;   // of the mapping, the page before that has no access
  size_t usable_ = 0;  // of the mapping, without pages that have no access
  bool is_readable_ = true;
  NamedRange before_, behind_;  // once retired, `behind_` is all of it
};

}  // namespace ephost::layers
