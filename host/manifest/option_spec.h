// An option that a manifest declares: its type, its default and the values it accepts.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ephost::manifest {

class Field;

enum class OptionType { kString, kInt, kFloat, kBool, kEnum };

// "string", "int", "float", "bool" or "enum".
[[nodiscard]] std::string_view option_type_name(OptionType type);

// When an option takes effect: it is given to a provider as it is created, or for one run; or as it
// is created and whenever it changes.
enum class OptionScope { kSession, kRun, kDynamic };

// "session", "run" or "dynamic".
[[nodiscard]] std::string_view option_scope_name(OptionScope scope);

// The alternative follows the type; kString and kEnum both hold a string.
using OptionValue = std::variant<std::string, int64_t, double, bool>;

// Formats a value as a user would write it.
[[nodiscard]] std::string to_text(const OptionValue& value);

struct OptionSpec {
  std::string name;
  OptionType type = OptionType::kString;
  OptionScope scope = OptionScope::kSession;
  OptionValue default_value;
  // For kInt and kFloat only: minimum and maximum, both inclusive, of the option's own type.
  std::optional<std::pair<OptionValue, OptionValue>> range;
  std::vector<std::string> choices;  // for kEnum only, where it is not empty
  std::string help;
};

// Returns why `value`, which has the option's type, is out of range or not one of the choices, with
// the remedy; empty if it is allowed.
[[nodiscard]] std::string option_value_problem(const OptionSpec& spec, const OptionValue& value);

// Reads one element of a manifest's `options`. Internal to the folder.
[[nodiscard]] Result<OptionSpec> read_option_spec(const Field& field);

}  // namespace ephost::manifest
