#include <string>
#include <string_view>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/documentation/completion.h"

namespace ephost::cli {
namespace {

// Text inside of the brackets, or between the colons, of a specification of _arguments.
std::string in_specification(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// What follows the option: the message, and what proposes values.
std::string zsh_values(const DocumentedArgument& argument) {
  const std::string message = ":" + in_specification(argument.value) + ":";
  // Before an equals sign there is a name, which only the model or the plugin knows.
  const std::string after_name =
      argument.value.find('=') != std::string::npos ? "compset -P \"*=\"; " : "";
  switch (kind_of(argument)) {
    case ValueKind::kChoice:
      return message + "(" + join(argument.choices, " ") + ")";
    case ValueKind::kFile:
      return message + "{" + after_name + "_files}";
    case ValueKind::kFolder:
      return message + "{" + after_name + "_files -/}";
    case ValueKind::kOther:
      break;
  }
  return message + " ";
}

// One specification for each name of the option. Any option may come again: whether it has an
// effect then is up to the command.
std::string option_specifications(const DocumentedArgument& argument) {
  std::string text;
  const std::string help = "[" + in_specification(argument.help) + "]";
  for (const std::string& flag : argument.flags) {
    const bool is_long = flag.starts_with("--");
    const std::string sign = argument.value.empty() ? "" : is_long ? "=" : "+";
    const std::string values = argument.value.empty() ? "" : zsh_values(argument);
    text += " \\\n    " + quoted_for_shell("*" + flag + sign + help + values);
  }
  return text;
}

std::string function_name(const DocumentedCommand& command) {
  return "_" + join(command.path, "_");
}

std::string subcommand_cases(const DocumentedCommand& command) {
  std::string names;
  std::string cases;
  for (const DocumentedCommand& one : command.subcommands) {
    const std::string& name = one.path.back();
    names += " \\\n        " + quoted_for_shell(name + ":" + one.help);
    cases += formatted("        {}) {} ;;\n", name, function_name(one));
  }
  return formatted(
      "  case $state in\n    commands)\n      local -a commands\n      commands=({})\n"
      "      _describe -t commands command commands ;;\n"
      "    rest)\n      case $words[1] in\n{}      esac ;;\n  esac\n",
      names, cases);
}

std::string function_of(const DocumentedCommand& command) {
  std::string specifications;
  for (const DocumentedArgument& argument : command.arguments) {
    specifications += option_specifications(argument);
    if (argument.positional.empty() || !command.subcommands.empty()) continue;
    DocumentedArgument positional = argument;
    if (positional.value.empty()) positional.value = positional.positional;
    specifications += " \\\n    " + quoted_for_shell("*" + zsh_values(positional));
  }
  std::string text = function_name(command) + "() {\n";
  if (command.subcommands.empty()) return text + "  _arguments -S" + specifications + "\n}\n\n";
  text += "  local context state state_descr line\n  typeset -A opt_args\n  _arguments -C -S" +
          specifications + " \\\n    '1: :->commands' '*:: :->rest'\n";
  return text + subcommand_cases(command) + "}\n\n";
}

}  // namespace

std::string zsh_completion(const DocumentedCommand& program) {
  const std::string& name = program.path.front();
  std::string text = formatted("#compdef {0}\n# Completion of {0} for zsh.\n\n", name);
  std::vector<const DocumentedCommand*> commands = all_commands(program);
  for (const DocumentedCommand* command : commands) text += function_of(*command);
  // The file is the function that is loaded when it is first called.
  return text + formatted("_{} \"$@\"\n", name);
}

}  // namespace ephost::cli
