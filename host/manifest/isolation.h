// How far a plugin is kept apart from the host.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace ephost::manifest {

// From the least strict to the strictest.
enum class Isolation {
  kNone,     // the plugin's library is loaded into the process of the host
  kWorker,   // into a process of its own
  kSandbox,  // which may use nothing but what the plugin needs
};

inline constexpr std::array<std::string_view, 3> kIsolationNames = {"none", "worker", "sandbox"};

[[nodiscard]] inline std::optional<Isolation> parse_isolation(std::string_view text) {
  for (size_t i = 0; i < kIsolationNames.size(); ++i) {
    if (kIsolationNames[i] == text) return static_cast<Isolation>(i);
  }
  return std::nullopt;
}

[[nodiscard]] inline std::string_view isolation_name(Isolation isolation) {
  return kIsolationNames[static_cast<size_t>(isolation)];
}

[[nodiscard]] inline Isolation stricter(Isolation a, Isolation b) { return std::max(a, b); }

}  // namespace ephost::manifest
