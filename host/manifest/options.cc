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

// What options are given for.
enum class Use { kCreation, kRun, kChange };

bool admits(Use use, OptionScope scope) {
  if (use == Use::kCreation) return scope != OptionScope::kRun;
  return scope == (use == Use::kRun ? OptionScope::kRun : OptionScope::kDynamic);
}

std::string_view remedy_for(OptionScope scope) {
  switch (scope) {
    case OptionScope::kSession:
      return "give it when the session is created";
    case OptionScope::kRun:
      return "give it with a run";
    case OptionScope::kDynamic:
      break;
  }
  return "give it when the session is created, or change it in the session";
}

Status refuse_unknown(const Manifest& manifest, const std::string& name, Use use) {
  std::vector<std::string_view> known;
  for (const OptionSpec& spec : manifest.options) {
    if (admits(use, spec.scope)) known.push_back(spec.name);
  }
  std::string which = "options";
  if (use == Use::kRun) which = "options with the scope run";
  if (use == Use::kChange) which = "options with the scope dynamic";
  const std::optional<std::string_view> nearest = nearest_match(name, known);
  return refuse(manifest, name,
                "it is not known; " + (nearest ? formatted("did you mean {}?", quote(*nearest))
                                       : known.empty() ? "the provider has no " + which
                                                       : formatted("the provider's {} are {}",
                                                                   which, join(known, ", "))));
}

Status check_name(const Manifest& manifest, const std::string& name, Use use) {
  const auto spec = std::find_if(manifest.options.begin(), manifest.options.end(),
                                 [&](const OptionSpec& known) { return known.name == name; });
  if (spec == manifest.options.end()) {
    if (manifest.options_open && use != Use::kChange) return Status::ok_status();
    return refuse_unknown(manifest, name, use);
  }
  if (admits(use, spec->scope)) return Status::ok_status();
  return refuse(manifest, name,
                formatted("it has the scope {}; {}", option_scope_name(spec->scope),
                          remedy_for(spec->scope)));
}

Status check_names(const Manifest& manifest, GivenOptions given, Use use) {
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = given[i].first;
    EPHOST_RETURN_IF_ERROR(check_name(manifest, name, use));
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

Result<std::vector<TypedOption>> validate(const Manifest& manifest, GivenOptions given, Use use) {
  EPHOST_RETURN_IF_ERROR(check_names(manifest, given, use));
  std::vector<TypedOption> options;
  for (const OptionSpec& spec : manifest.options) {
    if (!admits(use, spec.scope)) continue;
    TypedOption option{spec.name, spec.default_value, {}};
    const auto entry = std::find_if(given.begin(), given.end(),
                                    [&](const auto& other) { return other.first == spec.name; });
    if (entry != given.end()) {
      EPHOST_ASSIGN_OR_RETURN(option.value, read_given(manifest, spec, entry->second));
    } else if (use == Use::kChange) {
      continue;
    }
    option.text = to_text(option.value);
    options.push_back(std::move(option));
  }
  for (const auto& [name, text] : given) {
    const auto is_same = [&name = name](const OptionSpec& spec) { return spec.name == name; };
    if (std::none_of(manifest.options.begin(), manifest.options.end(), is_same)) {
      options.push_back({name, text, text});
    }
  }
  return options;
}

}  // namespace

Result<std::vector<TypedOption>> validate_options(const Manifest& manifest, GivenOptions given) {
  return validate(manifest, given, Use::kCreation);
}

Result<std::vector<TypedOption>> validate_run_options(const Manifest& manifest,
                                                      GivenOptions given) {
  return validate(manifest, given, Use::kRun);
}

Result<std::vector<TypedOption>> validate_option_changes(const Manifest& manifest,
                                                         GivenOptions given) {
  return validate(manifest, given, Use::kChange);
}

}  // namespace ephost::manifest
