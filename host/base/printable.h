// Makes text that came from a model, a plugin, a manifest or a file name safe to show. Everything
// that the host prints, logs or writes for people passes one of these functions.
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

// Whether a code point may not be shown as it is: control characters, which steer terminals, and
// the controls of text direction and the separators of lines and paragraphs, with which text can be
// made to look like other text.
[[nodiscard]] bool is_unprintable(uint32_t code_point);

// `text` as well-formed UTF-8: what is malformed becomes U+FFFD, and unprintable code points are
// written `\x1b` or `\u202e`; newlines and tabs stay. Does nothing to its own results.
[[nodiscard]] std::string printable(std::string_view text);

// The same, with spaces in place of newlines and tabs.
[[nodiscard]] std::string printable_line(std::string_view text);

// The same text of a JSON document, with unprintable code points, which can only be in its strings,
// as `\u202e`: another spelling of the same document. Whitespace stays.
[[nodiscard]] std::string printable_json(std::string_view json);

// How many columns of a terminal `text` takes, as far as one code point is one column.
[[nodiscard]] size_t column_count(std::string_view text);

}  // namespace ephost
