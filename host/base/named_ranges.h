// Ranges of memory with a name each, so that the crash handler can say what a plugin was about to
// access, and what the memory belongs to. Read in signal handlers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ephost {

enum class RangeOwner {
  kHost,         // memory without access, which must not be touched
  kApplication,  // lent by the application, or mapped from its files: for reading
};

struct RegisteredRange;

// Registers a range for as long as it lives. If there are thousands already, or memory runs out,
// the range has no name; nothing else changes. Ranges may be made by any thread.
class NamedRange {
 public:
  NamedRange() = default;
  // `name` completes "an address, which is ..."; what does not fit into 160 bytes is cut off.
  NamedRange(const void* begin, size_t size, std::string_view name,
             RangeOwner owner = RangeOwner::kHost);
  NamedRange(NamedRange&& other) noexcept;
  NamedRange& operator=(NamedRange&& other) noexcept;
  ~NamedRange();

 private:
  RegisteredRange* range_ = nullptr;
};

struct FoundRange {
  std::string_view name;  // empty: no range has the address
  RangeOwner owner = RangeOwner::kHost;
};

// The range that has `address`. Safe in signal handlers. Valid while the range is registered.
[[nodiscard]] FoundRange find_named_range(uintptr_t address) noexcept;

}  // namespace ephost
