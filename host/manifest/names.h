// The spellings that names in a manifest follow. Internal to the folder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ephost/status.h"

namespace ephost::manifest {

class Field;

struct NameRule {
  std::string_view letters;      // what a name consists of
  std::string_view description;  // the same, for messages
  size_t longest;
};

// A provider's type name.
inline constexpr NameRule kProviderName{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
    "letters A-Z and a-z, digits and _", 128};
// A short name; it goes into the names of context binaries.
inline constexpr NameRule kShortName{"abcdefghijklmnopqrstuvwxyz0123456789_",
                                     "lower-case letters a-z, digits and _", 64};
inline constexpr NameRule kOptionName{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-",
    "letters A-Z and a-z, digits, _, . and -", 128};

// Why `name` breaks the rule, with the remedy; empty when it does not.
[[nodiscard]] std::string name_problem(std::string_view name, const NameRule& rule);

// The field's text, which must follow the rule.
[[nodiscard]] Result<std::string> read_name(const Field& field, const NameRule& rule);

}  // namespace ephost::manifest
