#include <string_view>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/documentation/completion.h"

namespace ephost::cli {
namespace {

// Bash that proposes values of the form that `value` describes.
std::string bash_values(const DocumentedArgument& argument) {
  switch (kind_of(argument)) {
    case ValueKind::kChoice:
      return "_ephost_words " + quoted_for_shell(join(argument.choices, " "));
    case ValueKind::kFile:
      return "_ephost_files -f";
    case ValueKind::kFolder:
      return "_ephost_files -d";
    case ValueKind::kOther:
      break;
  }
  return ":";
}

// Ends the completion at the value of an option.
std::string option_cases(const DocumentedCommand& command) {
  std::string text;
  for (const DocumentedArgument& argument : command.arguments) {
    if (argument.flags.empty() || argument.value.empty()) continue;
    text +=
        formatted("        {}) {}; return ;;\n", join(argument.flags, "|"), bash_values(argument));
  }
  if (text.empty()) return text;
  return "      case \"$option\" in\n" + text + "      esac\n";
}

std::string command_case(const DocumentedCommand& command) {
  std::vector<std::string> words;
  for (const DocumentedCommand& subcommand : command.subcommands) {
    words.push_back(subcommand.path.back());
  }
  std::vector<std::string> flags;
  std::string positional = ":";
  for (const DocumentedArgument& argument : command.arguments) {
    flags.insert(flags.end(), argument.flags.begin(), argument.flags.end());
    if (!argument.positional.empty() && positional == ":") positional = bash_values(argument);
  }
  std::string text = formatted("    {})\n", quoted_for_shell(join(command.path, " ")));
  text += option_cases(command);
  text += formatted("      if [[ $current == -* ]]; then _ephost_words {}\n",
                    quoted_for_shell(join(flags, " ")));
  text +=
      formatted("      else {}; fi ;;\n",
                words.empty() ? positional : "_ephost_words " + quoted_for_shell(join(words, " ")));
  return text;
}

constexpr std::string_view kBashHelpers =
    R"(# Proposes those of some words that begin with $current.
_ephost_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }

# Proposes files (-f) or folders (-d).
_ephost_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}
)";

// The word that is completed, and the option before it. Bash makes a word of each "=": the value of
// --option=value and of --option name=value is one.
constexpr std::string_view kBashWords =
    R"(  local current=${COMP_WORDS[COMP_CWORD]} option= at=$((COMP_CWORD - 1)) word i
  if [[ $current == "=" ]]; then
    current=
    option=${COMP_WORDS[at]}
    if [[ $option != -* ]] && ((at > 0)); then option=${COMP_WORDS[at - 1]}; fi
  elif [[ ${COMP_WORDS[at]} == "=" ]] && ((at > 1)); then
    option=${COMP_WORDS[at - 1]}
    if [[ $option != -* ]] && ((at > 2)); then option=${COMP_WORDS[at - 2]}; fi
  else
    option=${COMP_WORDS[at]}
  fi
  COMPREPLY=()
)";

}  // namespace

std::string bash_completion(const DocumentedCommand& program) {
  const std::vector<const DocumentedCommand*> commands = all_commands(program);
  const std::string& name = program.path.front();
  std::string paths;
  std::string cases;
  for (const DocumentedCommand* command : commands) {
    cases += command_case(*command);
    if (command->path.size() < 2) continue;
    paths += (paths.empty() ? "" : "|") + quoted_for_shell(join(command->path, " "));
  }
  std::string text = formatted("# Completion of {} for bash.\n\n{}\n_{}() {{\n{}", name,
                               kBashHelpers, name, kBashWords);
  text += formatted("  local command={}\n", quoted_for_shell(name));
  if (!paths.empty()) {
    text += formatted(
        "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
        "    word=${{COMP_WORDS[i]}}\n"
        "    case \"$command $word\" in\n      {}) command=\"$command $word\" ;;\n    esac\n  "
        "done\n",
        paths);
  }
  text += "  case \"$command\" in\n" + cases + "  esac\n}\n\n";
  return text + formatted("complete -F _{0} {0}\n", name);
}

}  // namespace ephost::cli
