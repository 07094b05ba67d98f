#include "host/base/json_text.h"

namespace ephost {

std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += formatted("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + '"';
}

JsonText& JsonText::add(std::string_view key, std::string_view value) {
  if (value.empty()) return *this;
  return add(formatted("{}:{}", json_string(key), value));
}

JsonText& JsonText::add(std::string_view value) {
  if (value.empty()) return *this;
  if (text_.size() > 1) text_ += ',';
  text_ += value;
  return *this;
}

}  // namespace ephost
