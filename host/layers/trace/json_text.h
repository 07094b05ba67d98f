// Pieces of JSON as text, for lines of a trace.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "host/base/format.h"

namespace ephost::layers {

// A string of at most 200 bytes of `text`, made safe to display.
[[nodiscard]] std::string json_text(std::string_view text);

template <std::integral Number>
[[nodiscard]] std::string json_number(Number number) {
  return formatted("{}", number);
}
[[nodiscard]] std::string json_number(double number);  // null for what JSON has no number for

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

}  // namespace ephost::layers
