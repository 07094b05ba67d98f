// The rules for names in a manifest, and which provider a name means.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace ephost::manifest {

class Field;

struct NameRule {
  std::string_view letters;      // the characters allowed in a name
  std::string_view description;  // the same, for messages
  size_t longest;
};

// The type name of a provider.
inline constexpr NameRule kProviderName{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
    "letters A-Z and a-z, digits and _", 128};
// A short name, which is used in the names of context binaries.
inline constexpr NameRule kShortName{"abcdefghijklmnopqrstuvwxyz0123456789_",
                                     "lower-case letters a-z, digits and _", 64};
inline constexpr NameRule kOptionName{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-",
    "letters A-Z and a-z, digits, _, . and -", 128};

// Returns why `name` breaks the rule, with the remedy; empty if it does not.
[[nodiscard]] std::string name_problem(std::string_view name, const NameRule& rule);

// Whether the name is the provider's type name or its short name, in any case.
[[nodiscard]] bool names_provider(std::string_view name, std::string_view type_name,
                                  std::string_view short_name);

// Returns the field's text, which must follow the rule.
[[nodiscard]] Result<std::string> read_name(const Field& field, const NameRule& rule);

}  // namespace ephost::manifest
