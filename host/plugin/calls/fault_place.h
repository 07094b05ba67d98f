// The place of a fault, if it is in known memory, and whether the application is to blame: a plugin
// is not at fault if it cannot read an input whose file was truncated. Used in signal handlers.
#pragma once

#include <csignal>
#include <cstdint>
#include <string_view>

namespace ephost::plugin {

struct FaultPlace {
  uintptr_t address = 0;
  std::string_view where;  // completes "an address, which is"; empty: the address is not known
  std::string_view name;   // follows `where`: of a value; may be empty
  // The memory was to be accessible as it was accessed, as the application has promised.
  bool is_applications = false;
};

// For a SIGSEGV or SIGBUS that an instruction caused. `context` is the handler's.
[[nodiscard]] FaultPlace find_fault_place(const siginfo_t& info, const void* context) noexcept;

}  // namespace ephost::plugin
