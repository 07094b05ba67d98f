#include "host/cli/documentation/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "host/cli/documentation/examples.h"

namespace ephost::cli {
namespace {

// The elements of "{a,b}".
std::vector<std::string> split_choices(const std::string& text) {
  return CLI::detail::split(text.substr(1, text.size() - 2), ',');
}

// What a validator of CLI11 calls itself, in words.
std::string limit_text(const std::string& description) {
  if (description == "POSITIVE") return "positive";
  if (description == "NONNEGATIVE") return "not negative";
  const size_t range = description.find(" in [");
  return range == std::string::npos ? description : description.substr(range + 1);
}

// CLI11 has no other way to ask how many validators an option has.
std::vector<std::string> validator_descriptions(CLI::Option& option) {
  std::vector<std::string> descriptions;
  try {
    for (int i = 0;; ++i) descriptions.push_back(option.get_validator(i)->get_description());
  } catch (const CLI::OptionNotFound&) {
    return descriptions;
  }
}

std::vector<std::string> sorted_names(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return names;
}

DocumentedArgument describe(CLI::Option& option) {
  DocumentedArgument argument;
  for (const std::string& name : option.get_snames()) argument.flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.flags.push_back("--" + name);
  if (option.get_positional()) argument.positional = option.get_name(true);
  argument.help = option.get_description();
  argument.group = option.get_group();
  argument.required = option.get_required();
  argument.excludes = sorted_names(option.get_excludes());
  argument.needs = sorted_names(option.get_needs());
  if (option.get_items_expected_max() == 0) return argument;
  argument.value = option.get_type_name();
  argument.default_value = option.get_default_str();
  for (const std::string& description : validator_descriptions(option)) {
    if (description.empty()) continue;
    const size_t end = argument.value.rfind(":" + description);
    if (end != std::string::npos) argument.value.erase(end, description.size() + 1);
    if (description.front() == '{') {
      argument.choices = split_choices(description);
    } else {
      argument.limits.push_back(limit_text(description));
    }
  }
  return argument;
}

// Takes the examples out of the footer.
void split_footer(DocumentedCommand& command) {
  const size_t heading = command.footer.find(kExamplesHeading);
  if (heading == std::string::npos) return;
  std::istringstream lines(command.footer.substr(heading + kExamplesHeading.size()));
  for (std::string line; std::getline(lines, line);) {
    if (const size_t begin = line.find_first_not_of(' '); begin != std::string::npos) {
      command.examples.push_back(line.substr(begin));
    }
  }
  command.footer.resize(heading);
  while (command.footer.ends_with('\n')) command.footer.pop_back();
}

DocumentedCommand describe(CLI::App& app, std::vector<std::string> path) {
  path.push_back(app.get_name());
  DocumentedCommand command{.path = std::move(path),
                            .help = app.get_description(),
                            .footer = app.get_footer(),
                            .version = app.get_version_ptr() != nullptr ? app.version() : ""};
  split_footer(command);
  for (CLI::Option* option : app.get_options()) command.arguments.push_back(describe(*option));
  for (CLI::App* subcommand : app.get_subcommands([](CLI::App*) { return true; })) {
    command.subcommands.push_back(describe(*subcommand, command.path));
  }
  return command;
}

}  // namespace

DocumentedCommand describe_command(CLI::App& app) { return describe(app, {}); }

}  // namespace ephost::cli
