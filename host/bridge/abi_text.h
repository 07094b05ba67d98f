// Conversions of strings and codes between the host and the plugin ABI.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <string>
#include <string_view>

namespace ephost::bridge {

[[nodiscard]] inline eph_string to_abi(std::string_view text) { return {text.data(), text.size()}; }

// Empty for a null pointer, whatever its size.
[[nodiscard]] inline std::string_view view(eph_string text) {
  if (text.data == nullptr) return {};
  return {text.data, static_cast<size_t>(text.size)};
}

[[nodiscard]] constexpr bool is_known_code(int32_t code) {
  return (code >= EPH_OK && code <= EPH_NOT_FOUND) ||
         (code >= EPH_OUT_OF_MEMORY && code <= EPH_DEADLINE_EXCEEDED);
}

// kFail for a code that the host does not know.
[[nodiscard]] constexpr StatusCode to_status_code(int32_t code) {
  return is_known_code(code) ? static_cast<StatusCode>(code) : StatusCode::kFail;
}

}  // namespace ephost::bridge
