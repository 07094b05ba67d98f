#include "host/layers/trace/json_text.h"

namespace ephost::layers {
namespace {

constexpr size_t kMaxText = 200;

}  // namespace

std::string json_string(std::string_view text) {
  std::string escaped = "\"";
  const bool is_long = text.size() > kMaxText;
  for (const char c : printable(text.substr(0, kMaxText))) {
    if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\t') {
      escaped += "\\t";
    } else {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
  }
  return escaped + (is_long ? "...\"" : "\"");
}

std::string json_number(double number) {
  return std::isfinite(number) ? formatted("{}", number) : "null";
}

JsonText& JsonText::add(std::string_view key, std::string_view value) {
  if (value.empty()) return *this;
  return add(formatted("\"{}\":{}", key, value));
}

JsonText& JsonText::add(std::string_view value) {
  if (value.empty()) return *this;
  if (text_.size() > 1) text_ += ',';
  text_ += value;
  return *this;
}

}  // namespace ephost::layers
