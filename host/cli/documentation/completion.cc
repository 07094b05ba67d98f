#include "host/cli/documentation/completion.h"

namespace ephost::cli {
namespace {

void append_commands(const DocumentedCommand& command,
                     std::vector<const DocumentedCommand*>& out_commands) {
  out_commands.push_back(&command);
  for (const DocumentedCommand& subcommand : command.subcommands) {
    append_commands(subcommand, out_commands);
  }
}

}  // namespace

ValueKind kind_of(const DocumentedArgument& argument) {
  const auto names = [&](std::string_view word) {
    return argument.value.find(word) != std::string::npos;
  };
  if (!argument.choices.empty()) return ValueKind::kChoice;
  if (names("FILE") || names("PATH")) return ValueKind::kFile;
  return names("DIR") ? ValueKind::kFolder : ValueKind::kOther;
}

std::vector<const DocumentedCommand*> all_commands(const DocumentedCommand& program) {
  std::vector<const DocumentedCommand*> commands;
  append_commands(program, commands);
  return commands;
}

std::string quoted_for_shell(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

}  // namespace ephost::cli
