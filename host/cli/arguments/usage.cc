#include "host/cli/arguments/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::cli {
namespace {

const CLI::App& chosen_command(const CLI::App& root) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string full_name(const CLI::App& root) {
  std::string name = root.get_name();
  for (const CLI::App* command = &root; !command->get_subcommands().empty();) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  return name;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         std::string_view dashes) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const auto nearest = nearest_match(word, candidates);
  return nearest ? formatted("; did you mean {}{}?", dashes, *nearest) : std::string();
}

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// An option that the command does not have; null if all are known.
std::optional<std::string> unknown_option(const CLI::App& command, const std::string& name) {
  const std::vector<std::string> left = command.remaining();
  const auto found = std::ranges::find_if(left, is_option);
  if (found == left.end()) return std::nullopt;
  const std::string option = found->substr(0, found->find('='));
  std::vector<std::string> known;
  for (const CLI::Option* declared : command.get_options()) {
    for (const std::string& long_name : declared->get_lnames()) known.push_back(long_name);
  }
  const std::string_view word = std::string_view(option).substr(option.find_first_not_of('-'));
  return formatted("{} is not an option of \"{}\"{}", quote(option), name,
                   did_you_mean(word, known, "--"));
}

// A word where a command is expected; null if there is none. Words behind an unknown option may be
// its value.
std::optional<std::string> unknown_command(const CLI::App& command, const std::string& name) {
  const std::vector<std::string> left = command.remaining();
  std::vector<std::string> known;
  for (const CLI::App* subcommand : command.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(subcommand->get_name());
  }
  if (left.empty() || is_option(left.front()) || known.empty()) return std::nullopt;
  return formatted("{} is not a command of \"{}\"{}", quote(left.front()), name,
                   did_you_mean(left.front(), known, ""));
}

}  // namespace

Status usage_error(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = chosen_command(root);
  const std::string name = full_name(root);
  std::string what = error.what();
  // Other errors have nothing to do with what is left.
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (const auto unknown = unknown_command(command, name)) {
      what = *unknown;
    } else if (const auto option = unknown_option(command, name)) {
      what = *option;
    }
  }
  return Status(StatusCode::kInvalidArgument, formatted("{}; see \"{} --help\"", what, name));
}

bool asks_for_json(int argc, const char* const* argv) {
  bool asks = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") break;
    if (argument == "--format" && i + 1 < argc) asks = std::string_view(argv[++i]) == "json";
    if (argument.starts_with("--format=")) asks = argument == "--format=json";
  }
  return asks;
}

}  // namespace ephost::cli
