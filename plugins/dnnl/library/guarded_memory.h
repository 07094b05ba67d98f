// guarded_memory.h: memory for the arguments of a primitive that is on trial. Each area lies
// between pages without access, and next to one of them; whatever else of its own pages it does not
// use holds a pattern. Afterwards it says which areas the primitive has left, and how.
//
// A primitive that gets to such a page does not crash: the page is opened and the access noted. For
// that, a handler of SIGSEGV is in place while such memory exists. It passes every other fault on
// to the handler that was there before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/dnnl/library/fault_watch.h"

namespace ephost_dnnl {

// An access outside of an area.
struct Touch {
  std::size_t area = 0;
  bool is_write = false;
  bool is_before = false;  // else behind
  uint64_t distance = 0;   // in bytes: how far from the area's first byte, or behind its last one
};

// "writes 8 bytes behind"
[[nodiscard]] std::string to_text(const Touch& touch);

class GuardedMemory {
 public:
  // On which side each area lies next to a page without access. Areas begin at multiples of 64, as
  // the library's arguments do, so up to 63 bytes may be left behind them.
  enum class Side : uint8_t { kBehind, kBefore };
  GuardedMemory(const std::vector<std::size_t>& sizes, Side side);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // Zeros at first.
  [[nodiscard]] void* data(std::size_t area) const { return areas_[area].data; }

  // The first access outside that is noticed: every write and, of reads, those of pages without
  // access.
  [[nodiscard]] std::optional<Touch> touch() const;

 private:
  struct Area {
    std::byte* data = nullptr;
    std::size_t size = 0;
    std::byte *begin = nullptr, *end = nullptr;  // of its pages
  };
  struct Unmap {
    std::size_t size = 0;
    void operator()(std::byte* mapping) const;
  };

  void place(std::size_t size, Side side, std::byte* begin, std::byte* end);
  [[nodiscard]] std::optional<Touch> changed_zone(std::size_t area) const;
  // A fault as an access outside of the nearest area.
  [[nodiscard]] Touch seen_from_an_area(const Fault& fault) const;

  std::unique_ptr<std::byte, Unmap> mapping_{nullptr, Unmap{}};
  std::vector<Area> areas_;
  std::optional<FaultWatch> watch_;
};

}  // namespace ephost_dnnl
