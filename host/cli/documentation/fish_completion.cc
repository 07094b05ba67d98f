#include <string>
#include <string_view>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/documentation/completion.h"

namespace ephost::cli {
namespace {

// In single quotes fish knows two escapes.
std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string fish_values(const DocumentedArgument& argument) {
  switch (kind_of(argument)) {
    case ValueKind::kChoice:
      return " -x -a " + fish_quoted(join(argument.choices, " "));
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kOther:
      break;
  }
  return " -x";
}

std::string option_line(const std::string& begin, const DocumentedArgument& argument) {
  std::string text = begin;
  for (const std::string& flag : argument.flags) {
    const bool is_long = flag.starts_with("--");
    text += (is_long ? " -l " : " -s ") + flag.substr(is_long ? 2 : 1);
  }
  if (!argument.value.empty()) text += fish_values(argument);
  return text + " -d " + fish_quoted(argument.help) + "\n";
}

std::string lines_of(const DocumentedCommand& command) {
  const std::string& program = command.path.front();
  const std::string begin =
      formatted("complete -c {} -n {}", program,
                fish_quoted(formatted("__{}_at {}", program, join(command.path, " "))));
  std::string text;
  for (const DocumentedCommand& one : command.subcommands) {
    text += formatted("{} -a {} -d {}\n", begin, one.path.back(), fish_quoted(one.help));
  }
  for (const DocumentedArgument& argument : command.arguments) {
    if (!argument.flags.empty()) text += option_line(begin, argument);
    if (argument.positional.empty()) continue;
    const ValueKind kind = kind_of(argument);
    if (kind == ValueKind::kFile) text += begin + " -F\n";
    if (kind == ValueKind::kFolder) text += begin + " -a '(__fish_complete_directories)'\n";
    if (kind == ValueKind::kChoice) {
      text += begin + " -a " + fish_quoted(join(argument.choices, " ")) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string fish_completion(const DocumentedCommand& program) {
  const std::string& name = program.path.front();
  std::string paths;
  std::string lines;
  for (const DocumentedCommand* command : all_commands(program)) {
    if (command->path.size() > 1) paths += " " + fish_quoted(join(command->path, " "));
    lines += lines_of(*command);
  }
  // Which command the words name, as far as they were typed.
  return formatted(
      "# Completion of {0} for fish.\n\n"
      "function __{0}_at\n"
      "    set -l at {0}\n"
      "    for word in (commandline -opc)[2..]\n"
      "        if contains -- \"$at $word\"{1}\n"
      "            set at \"$at $word\"\n"
      "        end\n"
      "    end\n"
      "    test \"$at\" = \"$argv\"\n"
      "end\n\n"
      "complete -c {0} -f\n{2}",
      name, paths, lines);
}

}  // namespace ephost::cli
