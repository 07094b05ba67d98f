#include "host/base/text.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ephost {

namespace {

struct CodePoint {
  uint32_t value = 0;
  size_t size = 0;  // in bytes; 0: malformed
};

// The code point at the front of `text`, which is not empty.
CodePoint decode_utf8(std::string_view text) {
  const auto byte_at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte_at(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  uint32_t value = lead & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte_at(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte_at(i) & 0x3fU);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kSmallest[size] || value > 0x10ffff || surrogate) return {};
  return {value, size};
}

void append_escaped_byte(char c, std::string& out_text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<uint8_t>(c);
  out_text += "\\x";
  out_text += kDigits[byte >> 4];
  out_text += kDigits[byte & 0xf];
}

void append_quoted(std::string_view bytes, CodePoint point, std::string& out_text) {
  const bool control = point.value < 0x20 || (point.value >= 0x7f && point.value < 0xa0);
  if (point.value == '"' || point.value == '\\') {
    out_text += '\\';
    out_text += bytes;
  } else if (point.value == '\n') {
    out_text += "\\n";
  } else if (point.value == '\t') {
    out_text += "\\t";
  } else if (control) {
    for (const char c : bytes) append_escaped_byte(c, out_text);
  } else {
    out_text += bytes;
  }
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The number of insertions, deletions, changes and swaps of neighbours that turn `a` into `b`.
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

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::string_view bytes = text.substr(0, std::max<size_t>(point.size, 1));
    if (point.size == 0) {
      escaped += "\xef\xbf\xbd";
    } else if (point.value == '&') {
      escaped += "&amp;";
    } else if (point.value == '<') {
      escaped += "&lt;";
    } else if (point.value == '>') {
      escaped += "&gt;";
    } else if (point.value == '"') {
      escaped += "&quot;";
    } else if (point.value == '\'') {
      escaped += "&#39;";
    } else if (point.value < 0x20 || (point.value >= 0x7f && point.value < 0xa0)) {
      escaped += ' ';
    } else {
      escaped += bytes;
    }
    text.remove_prefix(bytes.size());
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
