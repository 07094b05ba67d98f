#include "host/base/printable.h"

#include <algorithm>
#include <array>

namespace ephost {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::string escape_of(uint32_t code_point) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = code_point < 0x80 ? "\\x" : "\\u";
  for (int shift = code_point < 0x80 ? 4 : 12; shift >= 0; shift -= 4) {
    text += kDigits[code_point >> shift & 0xf];
  }
  return text;
}

// Calls `append` with each code point and its bytes; malformed bytes are passed one at a time.
template <class Function>
void for_each_code_point(std::string_view text, const Function& append) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::string_view bytes = text.substr(0, std::max<size_t>(point.size, 1));
    append(point, bytes);
    text.remove_prefix(bytes.size());
  }
}

std::string shown(std::string_view text, bool on_one_line) {
  std::string safe;
  safe.reserve(text.size());
  for_each_code_point(text, [&](CodePoint point, std::string_view bytes) {
    if (point.size == 0) {
      safe += kReplacement;
    } else if (point.value == '\n' || point.value == '\t') {
      safe += on_one_line ? " " : bytes;
    } else if (is_unprintable(point.value)) {
      safe += escape_of(point.value);
    } else {
      safe += bytes;
    }
  });
  return safe;
}

}  // namespace

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

bool is_unprintable(uint32_t code_point) {
  constexpr std::array<std::pair<uint32_t, uint32_t>, 7> kRanges = {{{0x00, 0x1f},
                                                                     {0x7f, 0x9f},
                                                                     {0x061c, 0x061c},
                                                                     {0x200e, 0x200f},
                                                                     {0x2028, 0x202e},
                                                                     {0x2066, 0x2069},
                                                                     {0xfeff, 0xfeff}}};
  return std::ranges::any_of(kRanges, [&](const auto& range) {
    return code_point >= range.first && code_point <= range.second;
  });
}

std::string printable(std::string_view text) { return shown(text, false); }

std::string printable_line(std::string_view text) { return shown(text, true); }

std::string printable_json(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for_each_code_point(json, [&](CodePoint point, std::string_view bytes) {
    const bool is_space = point.value == '\n' || point.value == '\t' || point.value == '\r';
    if (point.size == 0) {
      safe += kReplacement;
    } else if (is_unprintable(point.value) && !is_space) {
      std::string escape = escape_of(point.value);
      if (escape[1] == 'x') escape.replace(1, 1, "u00");
      safe += escape;
    } else {
      safe += bytes;
    }
  });
  return safe;
}

size_t column_count(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace ephost
