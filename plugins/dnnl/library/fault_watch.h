// fault_watch.h: a watch that notes accesses to ranges of pages without access, and lets them
// succeed. Used by guarded_memory alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ephost_dnnl {

struct Fault {
  uintptr_t address = 0;
  bool is_write = false;
};

// While it lives, an access to a page of the range that has none opens that page. Any number of
// threads may watch at once.
class FaultWatch {
 public:
  FaultWatch(const void* begin, std::size_t size);
  ~FaultWatch();
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;

  // The first write or, if there is none, the first read.
  [[nodiscard]] std::optional<Fault> fault() const;

 private:
  std::size_t slot_;
};

}  // namespace ephost_dnnl
