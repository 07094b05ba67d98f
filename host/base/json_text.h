// A writer of JSON as text, for modules that use no library for it.
#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include "host/base/format.h"

namespace ephost {

// In quotes, with escapes for quotes, backslashes and control characters. Other bytes stay as they
// are; text that may be malformed passes through printable.h before.
[[nodiscard]] std::string json_string(std::string_view text);

[[nodiscard]] inline std::string json_bool(bool value) { return value ? "true" : "false"; }

template <std::integral Number>
[[nodiscard]] std::string json_number(Number number) {
  return formatted("{}", number);
}
// Null for what JSON has no number for.
[[nodiscard]] inline std::string json_number(double number) {
  return std::isfinite(number) ? formatted("{}", number) : "null";
}

// An object or array that grows.
class JsonText {
 public:
  explicit JsonText(char open) : text_(1, open), close_(open == '{' ? '}' : ']') {}
  // `value` is JSON; nothing is added for an empty one.
  JsonText& add(std::string_view key, std::string_view value);
  JsonText& add(std::string_view value);
  [[nodiscard]] std::string text() const { return text_ + close_; }

 private:
  std::string text_;
  char close_;
};

}  // namespace ephost
