#include "host/layers/trace/json_text.h"

#include <cmath>

#include "host/base/json_text.h"
#include "host/base/printable.h"

namespace ephost::layers {
namespace {

constexpr size_t kMaxText = 200;

}  // namespace

std::string json_text(std::string_view text) {
  std::string safe = printable(text.substr(0, kMaxText));
  if (text.size() > kMaxText) safe += "...";
  return json_string(safe);
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
