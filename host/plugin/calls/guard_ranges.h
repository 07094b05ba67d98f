// Ranges of memory without access, with a name each, so that the crash handler can say what a
// plugin was about to reach. Made by the layers; read in signal handlers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ephost::plugin {

struct NamedRange;

// Registers a range for as long as it lives. If there are thousands already, or memory runs out,
// the range has no name; nothing else changes. Ranges may be made by any thread.
class GuardRange {
 public:
  GuardRange() = default;
  // `name` completes "an address ..."; what does not fit into 160 bytes is cut off.
  GuardRange(const void* begin, size_t size, std::string_view name);
  GuardRange(GuardRange&& other) noexcept;
  GuardRange& operator=(GuardRange&& other) noexcept;
  ~GuardRange();

 private:
  NamedRange* range_ = nullptr;
};

// The name of the range that has `address`; empty if none has. Safe in signal handlers. Valid while
// the range is registered.
[[nodiscard]] std::string_view name_of_guard_range(uintptr_t address) noexcept;

}  // namespace ephost::plugin
