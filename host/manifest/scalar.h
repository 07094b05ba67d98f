// Scalars as numbers or truth values, parsed in the same way for manifests, selections and options.
// Internal to the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ephost::manifest {

// Decimal digits with an optional sign.
[[nodiscard]] std::optional<int64_t> parse_integer(std::string_view text);
// A decimal number with optional sign, fraction and exponent, or .inf with an optional sign. Finite
// numbers that a double cannot represent are refused.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
// true or false in any case.
[[nodiscard]] std::optional<bool> parse_boolean_word(std::string_view text);
// The shortest text from which parse_number reads the same value.
[[nodiscard]] std::string number_text(double value);

}  // namespace ephost::manifest
