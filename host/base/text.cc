#include "host/base/text.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/base/printable.h"

namespace ephost {

namespace {

void append_escaped_byte(char c, std::string& out_text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<uint8_t>(c);
  out_text += "\\x";
  out_text += kDigits[byte >> 4];
  out_text += kDigits[byte & 0xf];
}

void append_quoted(std::string_view bytes, CodePoint point, std::string& out_text) {
  if (point.value == '"' || point.value == '\\') {
    out_text += '\\';
    out_text += bytes;
  } else if (point.value == '\n') {
    out_text += "\\n";
  } else if (point.value == '\t') {
    out_text += "\\t";
  } else {
    out_text += printable(bytes);
  }
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The number of insertions, deletions, substitutions and transpositions that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_previous(b.size() + 1);
  std::vector<size_t> previous(b.size() + 1);
  std::vector<size_t> current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) current[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_previous, previous);
    std::swap(previous, current);
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_previous[j - 2] + 1);
    }
  }
  return current[b.size()];
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr size_t kLongest = 200;
  std::string quoted = "\"";
  size_t position = 0;
  while (position < text.size() && position < kLongest) {
    const CodePoint point = decode_utf8(text.substr(position));
    if (point.size == 0) {
      append_escaped_byte(text[position], quoted);
      ++position;
    } else {
      append_quoted(text.substr(position, point.size), point, quoted);
      position += point.size;
    }
  }
  if (position < text.size()) quoted += "...";
  quoted += '"';
  return quoted;
}

std::optional<std::string_view> nearest_match(std::string_view word,
                                              std::span<const std::string_view> candidates) {
  constexpr size_t kLongest = 100;
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  const std::string wanted = ascii_lower(word);
  size_t best = std::max<size_t>(1, wanted.size() / 3) + 1;
  std::optional<std::string_view> match;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const size_t distance = edit_distance(wanted, ascii_lower(candidate));
    if (distance < best && distance < candidate.size()) {
      best = distance;
      match = candidate;
    }
  }
  return match;
}

bool fits_pattern(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : printable_line(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (point.size == 0) return false;
    text.remove_prefix(point.size);
  }
  return true;
}

std::string ascii_lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace ephost
