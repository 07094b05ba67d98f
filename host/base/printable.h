// Conversion of text from a model, a plugin, a manifest or a file name to text that is safe to
// display. All text that the host prints, logs or writes for people passes through one of these
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ephost {

// One code point of UTF-8.
struct CodePoint {
  uint32_t value = 0;
  size_t size = 0;  // in bytes; 0: malformed
};

// The code point at the front of `text`, which is not empty.
[[nodiscard]] CodePoint decode_utf8(std::string_view text);

// Whether a code point must not be displayed as it is: control characters, which terminals
// interpret, and bidirectional controls and line and paragraph separators, which can make text look
// like other text.
[[nodiscard]] bool is_unprintable(uint32_t code_point);

// Returns `text` as well-formed UTF-8: malformed bytes become U+FFFD, and unprintable code points
// are written as `\x1b` or `\u202e`; newlines and tabs stay. Idempotent.
[[nodiscard]] std::string printable(std::string_view text);

// The same, with newlines and tabs replaced by spaces.
[[nodiscard]] std::string printable_line(std::string_view text);

// Escapes the unprintable code points of a JSON document, which can only occur in its strings, as
// `\u202e`; the result is another spelling of the same document. Whitespace stays.
[[nodiscard]] std::string printable_json(std::string_view json);

// The number of terminal columns that `text` takes, assuming one column per code point.
[[nodiscard]] size_t column_count(std::string_view text);

}  // namespace ephost
