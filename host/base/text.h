// Small text helpers for messages. Their output is not meant to be parsed again.
#pragma once

#include <concepts>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>

namespace ephost {

// Returns `text` in double quotes, safe to print: quotes, backslashes, unprintable code points
// (printable.h) and bytes that are not UTF-8 are escaped, and text of more than 200 bytes is
// truncated with "...".
[[nodiscard]] std::string quote(std::string_view text);

// Joins the elements with `separator` between them. Elements convert to string_view.
template <std::ranges::input_range Range>
requires std::convertible_to<std::ranges::range_reference_t<const Range>, std::string_view>
[[nodiscard]] std::string join(const Range& elements, std::string_view separator) {
  std::string joined;
  bool first = true;
  for (const auto& element : elements) {
    if (!first) joined += separator;
    joined += std::string_view(element);
    first = false;
  }
  return joined;
}

// Returns the candidate that `word` is most likely a misspelling of, ignoring ASCII case: at most a
// third of its letters may be inserted, deleted, substituted or transposed. The first candidate
// wins a tie.
[[nodiscard]] std::optional<std::string_view> nearest_match(
    std::string_view word, std::span<const std::string_view> candidates);

// Whether the pattern of a shell, with `*`, `?` and `[...]`, fits all of `text`.
[[nodiscard]] bool fits_pattern(const std::string& pattern, const std::string& text);

// Escapes `text` for the content and the attributes of HTML elements and makes it printable on one
// line (printable.h).
[[nodiscard]] std::string escape_html(std::string_view text);

// Whether `text` is well-formed UTF-8.
[[nodiscard]] bool is_valid_utf8(std::string_view text);

// Returns `text` with A-Z converted to a-z; other bytes stay.
[[nodiscard]] std::string ascii_lower(std::string_view text);
// Whether two texts are equal when ASCII case is ignored.
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace ephost
