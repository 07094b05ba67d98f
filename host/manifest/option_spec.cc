#include "host/manifest/option_spec.h"

#include <algorithm>
#include <array>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/field.h"
#include "host/manifest/names.h"
#include "host/manifest/scalar.h"

namespace ephost::manifest {

namespace {

constexpr std::array<std::string_view, 5> kTypeNames{"string", "int", "float", "bool", "enum"};
constexpr std::array<std::string_view, 3> kScopeNames{"session", "run", "dynamic"};

// The position of the field's text in `names`; `what` they are is for the message.
template <size_t kCount>
Result<size_t> read_word(const Field& field, const std::array<std::string_view, kCount>& names,
                         std::string_view what) {
  EPHOST_ASSIGN_OR_RETURN(const std::string name, field.text());
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    return field.error(
        formatted("the {} {} is not known; write one of {}", what, quote(name), join(names, ", ")));
  }
  return static_cast<size_t>(found - names.begin());
}

template <class T>
Result<OptionValue> widen(Result<T> value) {
  if (!value.ok()) return std::move(value).status();
  return OptionValue(std::move(*value));
}

Result<OptionValue> read_value(const Field& field, OptionType type) {
  switch (type) {
    case OptionType::kInt:
      return widen(field.integer());
    case OptionType::kFloat:
      return widen(field.number());
    case OptionType::kBool:
      return widen(field.boolean());
    case OptionType::kString:
      return widen(field.any_text());
    case OptionType::kEnum:
      break;
  }
  return widen(field.text());
}

Status read_range(const Field& field, OptionSpec& spec) {
  if (spec.type != OptionType::kInt && spec.type != OptionType::kFloat) {
    return field.at_key().error(formatted("an option of type {} has no range; remove the key",
                                          option_type_name(spec.type)));
  }
  EPHOST_ASSIGN_OR_RETURN(const std::vector<Field> ends, field.list());
  if (ends.size() != 2) return field.error("a range has two ends; write [lowest, highest]");
  EPHOST_ASSIGN_OR_RETURN(OptionValue least, read_value(ends[0], spec.type));
  EPHOST_ASSIGN_OR_RETURN(OptionValue greatest, read_value(ends[1], spec.type));
  if (greatest < least) return field.error("the range is empty; write [lowest, highest]");
  spec.range.emplace(std::move(least), std::move(greatest));
  return Status::ok_status();
}

Status read_choices(const Field* field, const Field& option, OptionSpec& spec) {
  if (spec.type != OptionType::kEnum) {
    if (field == nullptr) return Status::ok_status();
    return field->at_key().error(
        "only an option of type enum has choices; remove the key or write "
        "\"type: enum\"");
  }
  if (field == nullptr) {
    return option.error(
        "an option of type enum needs the key \"choices\"; add a line like "
        "\"choices: [fast, exact]\"");
  }
  EPHOST_ASSIGN_OR_RETURN(spec.choices, field->text_list());
  if (spec.choices.empty()) return field->error("the list of choices is empty; fill it in");
  return Status::ok_status();
}

Status read_default(const Field& field, OptionSpec& spec) {
  EPHOST_ASSIGN_OR_RETURN(spec.default_value, read_value(field, spec.type));
  const std::string problem = option_value_problem(spec, spec.default_value);
  return problem.empty() ? Status::ok_status() : field.error("the default " + problem);
}

}  // namespace

std::string_view option_type_name(OptionType type) { return kTypeNames[static_cast<size_t>(type)]; }

std::string_view option_scope_name(OptionScope scope) {
  return kScopeNames[static_cast<size_t>(scope)];
}

std::string to_text(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  return std::get<bool>(value) ? "true" : "false";
}

std::string option_value_problem(const OptionSpec& spec, const OptionValue& value) {
  if (spec.range && (value < spec.range->first || spec.range->second < value)) {
    return formatted("{} is out of range; give a value from {} to {}", to_text(value),
                     to_text(spec.range->first), to_text(spec.range->second));
  }
  if (spec.type != OptionType::kEnum) return {};
  const auto& text = std::get<std::string>(value);
  if (std::find(spec.choices.begin(), spec.choices.end(), text) != spec.choices.end()) return {};
  return quote(text) + " is not one of the choices; give one of " + join(spec.choices, ", ");
}

Result<OptionSpec> read_option_spec(const Field& field) {
  static constexpr std::array<std::string_view, 7> kKeys{"name",  "type",    "scope", "default",
                                                         "range", "choices", "help"};
  EPHOST_ASSIGN_OR_RETURN(const FieldMap map, field.map(kKeys));
  OptionSpec spec;
  EPHOST_ASSIGN_OR_RETURN(const Field name, map.require("name", "num_threads"));
  EPHOST_ASSIGN_OR_RETURN(spec.name, read_name(name, kOptionName));
  EPHOST_ASSIGN_OR_RETURN(const Field type, map.require("type", "int"));
  EPHOST_ASSIGN_OR_RETURN(const size_t type_index, read_word(type, kTypeNames, "type"));
  spec.type = static_cast<OptionType>(type_index);
  if (const Field* scope = map.find("scope")) {
    EPHOST_ASSIGN_OR_RETURN(const size_t scope_index, read_word(*scope, kScopeNames, "scope"));
    spec.scope = static_cast<OptionScope>(scope_index);
  }
  if (const Field* range = map.find("range")) EPHOST_RETURN_IF_ERROR(read_range(*range, spec));
  EPHOST_RETURN_IF_ERROR(read_choices(map.find("choices"), field, spec));
  EPHOST_ASSIGN_OR_RETURN(const Field default_value, map.require("default", "0"));
  EPHOST_RETURN_IF_ERROR(read_default(default_value, spec));
  if (const Field* help = map.find("help")) {
    EPHOST_ASSIGN_OR_RETURN(spec.help, help->any_text());
  }
  return spec;
}

}  // namespace ephost::manifest
