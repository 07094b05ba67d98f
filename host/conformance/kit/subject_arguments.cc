#include "host/conformance/kit/subject_arguments.h"

#include <charconv>
#include <optional>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::conformance {
namespace {

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// False for an option that does not exist, or a value that it cannot have.
bool set_option(ParsedArguments& parsed, std::string_view name, const std::string& value) {
  Subject& subject = parsed.subject;
  if (name == "--answer") return parse_number(value, parsed.answer);
  if (name == "--seed") return parse_number(value, subject.seed);
  if (name == "--time-factor") return parse_number(value, subject.time_factor);
  if (name == "--level") {
    subject.level = value == "full" ? Level::kFull : Level::kBasic;
    return value == "full" || value == "basic";
  }
  if (name == "--plugin-path") {
    subject.plugin_paths.emplace_back(value);
  } else if (name == "--manifest") {
    subject.manifest = value;
  } else if (name == "--provider") {
    subject.provider = value;
  } else if (name == "--data") {
    subject.data = value;
  } else if (name == "--scratch") {
    subject.scratch = value;
  } else if (name == "--isolation") {
    subject.isolation = value;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> subject_arguments(const Subject& subject) {
  std::vector<std::string> arguments = {
      "--manifest",    subject.manifest.native(),
      "--provider",    subject.provider,
      "--data",        subject.data.native(),
      "--scratch",     subject.scratch.native(),
      "--level",       subject.level == Level::kFull ? "full" : "basic",
      "--seed",        std::to_string(subject.seed),
      "--isolation",   subject.isolation,
      "--time-factor", std::to_string(subject.time_factor)};
  for (const auto& path : subject.plugin_paths) {
    arguments.insert(arguments.end(), {"--plugin-path", path.native()});
  }
  return arguments;
}

Result<ParsedArguments> parse_arguments(std::span<char* const> arguments) {
  ParsedArguments parsed;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::string name = arguments[i];
    if (name == "--") {
      for (char* const argument : arguments.subspan(i + 1)) parsed.rest.emplace_back(argument);
      break;
    }
    const bool has_value = i + 1 < arguments.size();
    if (!has_value || !set_option(parsed, name, arguments[i + 1])) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted("{} {} is not an option of this program; \"ephost validate\" starts it "
                    "with the right ones",
                    quote(name), has_value ? quote(arguments[i + 1]) : "without a value"));
    }
  }
  return parsed;
}

}  // namespace ephost::conformance
