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

extern const NameRule kProviderName;  // a provider's type name
extern const NameRule kShortName;     // goes into the names of context binaries
extern const NameRule kOptionName;

// Why `name` breaks the rule, with the remedy; empty when it does not.
[[nodiscard]] std::string name_problem(std::string_view name, const NameRule& rule);

// The field's text, which must follow the rule.
[[nodiscard]] Result<std::string> read_name(const Field& field, const NameRule& rule);

}  // namespace ephost::manifest
