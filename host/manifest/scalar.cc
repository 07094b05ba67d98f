#include "host/manifest/scalar.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "host/base/text.h"

namespace ephost::manifest {

namespace {

// from_chars does not accept '+'; "+-1" must not pass once the '+' is removed.
std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return plus ? text.substr(1) : text;
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text) {
  return parse_whole<int64_t>(without_plus(text));
}

std::optional<double> parse_number(std::string_view text) {
  text = without_plus(text);
  const bool negative = text.starts_with('-');
  const std::string_view magnitude = negative ? text.substr(1) : text;
  if (equal_ignoring_case(magnitude, ".inf")) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return negative ? -kInfinity : kInfinity;
  }
  // from_chars would also accept the words inf and nan.
  if (magnitude.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  return parse_whole<double>(text);
}

std::optional<bool> parse_boolean_word(std::string_view text) {
  if (equal_ignoring_case(text, "true")) return true;
  if (equal_ignoring_case(text, "false")) return false;
  return std::nullopt;
}

std::string number_text(double value) {
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string();
}

}  // namespace ephost::manifest
