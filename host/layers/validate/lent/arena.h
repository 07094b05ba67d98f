// Memory for copies of texts, arrays and records that a plugin borrows. When the time is over,
// reading there crashes or gives a pattern.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "host/base/memory/memory_pages.h"
#include "host/base/named_ranges.h"
#include "host/layers/validate/runs/guarded_memory.h"

namespace ephost::layers {

// Not thread-safe. What it returns lives as long as the arena, and is unreadable after `poison`.
class Arena {
 public:
  // `name` says what lies in it, for the report of a crash, e.g. "what compile was passed".
  Arena(Guard guard, std::string name) : guard_(guard), name_(std::move(name)) {}

  // Throw std::bad_alloc if memory runs out.
  template <class T>
  [[nodiscard]] T* copy(const T* values, uint64_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (values == nullptr) return nullptr;
    void* const place = allocate(static_cast<size_t>(count) * sizeof(T));
    if (count != 0) std::memcpy(place, values, static_cast<size_t>(count) * sizeof(T));
    return static_cast<T*>(place);
  }
  [[nodiscard]] eph_string copy(eph_string text) {
    return {copy(text.data, text.size), text.data == nullptr ? 0 : text.size};
  }

  // Makes everything unreadable (Guard::kPages), or overwrites it.
  void poison() noexcept;
  // What it occupies.
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  struct Chunk {
    MemoryPages pages;
    NamedRange range;
  };
  void* allocate(size_t size);

  const Guard guard_;
  const std::string name_;
  std::vector<Chunk> chunks_;
  size_t used_ = 0;  // of the last chunk
  size_t bytes_ = 0;
};

}  // namespace ephost::layers
