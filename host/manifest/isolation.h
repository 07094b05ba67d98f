// The words for how far a plugin is kept apart from the host.
#pragma once

#include <ephost/status.h>
#include <ephost/types/environment.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace ephost::manifest {

using ephost::Isolation;

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

// INVALID_ARGUMENT for any other word; `what` is where it was given, such as "the entry x".
[[nodiscard]] Result<Isolation> require_isolation(std::string_view text, std::string_view what);
class Field;
// The same of a file's field.
[[nodiscard]] Result<Isolation> read_isolation(const Field& field);

[[nodiscard]] inline Isolation stricter(Isolation a, Isolation b) { return std::max(a, b); }

}  // namespace ephost::manifest
