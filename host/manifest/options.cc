#include "host/manifest/options.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/scalar.h"

namespace ephost::manifest {

namespace {

Status refuse(const Manifest& manifest, std::string_view option, std::string_view problem) {
  return Status(StatusCode::kInvalidArgument,
                formatted("option {} of {}: {}", quote(option), manifest.provider, problem));
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "1") return true;
  if (text == "0") return false;
  return parse_boolean_word(text);
}

template <class T>
std::optional<OptionValue> widen(std::optional<T> value) {
  if (!value) return std::nullopt;
  return OptionValue(*value);
}

std::optional<OptionValue> parse_value(OptionType type, const std::string& text) {
  switch (type) {
    case OptionType::kInt:
      return widen(parse_integer(text));
    case OptionType::kFloat:
      return widen(parse_number(text));
    case OptionType::kBool:
      return widen(parse_boolean(text));
    case OptionType::kString:
    case OptionType::kEnum:
      break;
  }
  return OptionValue(text);
}

std::string_view expectation(OptionType type) {
  switch (type) {
    case OptionType::kInt:
      return "a whole number";
    case OptionType::kFloat:
      return "a number";
    case OptionType::kBool:
      return "true, false, 1 or 0";
    case OptionType::kString:
    case OptionType::kEnum:
      break;
  }
  return "text";
}

Status check_names(const Manifest& manifest,
                   std::span<const std::pair<std::string, std::string>> given) {
  std::vector<std::string_view> known;
  for (const OptionSpec& spec : manifest.options) known.push_back(spec.name);
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = given[i].first;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::optional<std::string_view> nearest = nearest_match(name, known);
      const std::string remedy = nearest ? formatted("did you mean {}?", quote(*nearest))
                                 : known.empty()
                                     ? "the provider has no options"
                                     : "the provider's options are " + join(known, ", ");
      return refuse(manifest, name, "it is not known; " + remedy);
    }
    const auto same = [&](const auto& other) { return other.first == name; };
    if (std::any_of(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      return refuse(manifest, name, "it is given twice; give it once");
    }
  }
  return Status::ok_status();
}

Result<OptionValue> read_given(const Manifest& manifest, const OptionSpec& spec,
                               const std::string& text) {
  std::optional<OptionValue> value = parse_value(spec.type, text);
  if (!value) {
    return refuse(manifest, spec.name,
                  formatted("{} is not of type {}; give {}", quote(text),
                            option_type_name(spec.type), expectation(spec.type)));
  }
  const std::string problem = option_value_problem(spec, *value);
  if (!problem.empty()) return refuse(manifest, spec.name, problem);
  return *std::move(value);
}

}  // namespace

Result<std::vector<TypedOption>> validate_options(
    const Manifest& manifest, std::span<const std::pair<std::string, std::string>> given) {
  EPHOST_RETURN_IF_ERROR(check_names(manifest, given));
  std::vector<TypedOption> options;
  for (const OptionSpec& spec : manifest.options) {
    TypedOption option{spec.name, spec.default_value, {}};
    const auto entry = std::find_if(given.begin(), given.end(),
                                    [&](const auto& other) { return other.first == spec.name; });
    if (entry != given.end()) {
      EPHOST_ASSIGN_OR_RETURN(option.value, read_given(manifest, spec, entry->second));
    }
    option.text = to_text(option.value);
    options.push_back(std::move(option));
  }
  return options;
}

}  // namespace ephost::manifest
