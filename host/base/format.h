// Text from a pattern, for messages and reports. It keeps the fmt library behind one name: a call
// of `format` would also find std::format where both exist.
#pragma once

#include <fmt/core.h>

#include <string>

namespace ephost {

// Replaces each {} of `pattern` by the next argument, and {{ and }} by braces. The compiler checks
// the pattern.
template <typename... Args>
[[nodiscard]] std::string formatted(fmt::format_string<const Args&...> pattern,
                                    const Args&... args) {
  return fmt::format(pattern, args...);
}

}  // namespace ephost
