#include "host/cli/documentation/man_page.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/exit_status.h"

namespace ephost::cli {
namespace {

// Text as roff shows it unchanged.
std::string escaped(std::string_view text) {
  std::string result;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    line_start = c == '\n';
  }
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

// "-f, --file FILE" with fonts; of an argument that is positional too, that name as well.
std::string term(const DocumentedArgument& argument) {
  std::vector<std::string> names;
  if (!argument.positional.empty()) names.push_back(italic(argument.positional));
  for (const std::string& flag : argument.flags) {
    const std::string value =
        argument.choices.empty() ? argument.value : join(argument.choices, "|");
    names.push_back(bold(flag) + (value.empty() ? "" : " " + italic(value)));
  }
  return join(names, ", ");
}

// What follows the help: conditions and the default.
std::string remarks(const DocumentedArgument& argument) {
  std::vector<std::string> remarks;
  if (argument.required) remarks.emplace_back("required");
  for (const std::string& limit : argument.limits) remarks.push_back(limit);
  if (!argument.needs.empty()) remarks.push_back("needs " + join(argument.needs, ", "));
  if (!argument.excludes.empty()) remarks.push_back("not with " + join(argument.excludes, ", "));
  if (!argument.default_value.empty()) remarks.push_back("default: " + argument.default_value);
  return remarks.empty() ? "" : " (" + join(remarks, "; ") + ")";
}

std::string arguments_section(const DocumentedCommand& command) {
  std::vector<std::string> groups;
  for (const DocumentedArgument& argument : command.arguments) {
    if (std::ranges::find(groups, argument.group) == groups.end()) groups.push_back(argument.group);
  }
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (groups.size() > 1) text += ".SS \"" + escaped(group) + "\"\n";
    for (const DocumentedArgument& argument : command.arguments) {
      if (argument.group != group) continue;
      text += ".TP\n" + term(argument) + "\n";
      text += escaped(argument.help + remarks(argument) + ".") + "\n";
    }
  }
  return text;
}

std::string synopsis(const DocumentedCommand& command) {
  std::string text = bold(join(command.path, " "));
  if (!command.subcommands.empty()) return text + " " + italic("COMMAND") + " ...\n";
  text += " [" + italic("OPTION") + "]...";
  for (const DocumentedArgument& argument : command.arguments) {
    if (argument.positional.empty()) continue;
    const std::string name = italic(argument.positional);
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

std::string reference(const DocumentedCommand& command) {
  return "\\fB" + escaped(man_page_name(command)) + "\\fR(1)";
}

std::string commands_section(const DocumentedCommand& command) {
  std::string text = ".SH COMMANDS\n";
  for (const DocumentedCommand& subcommand : command.subcommands) {
    text += ".TP\n" + reference(subcommand) + "\n" + escaped(subcommand.help + ".") + "\n";
  }
  return text;
}

std::string exit_section() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitStatus& exit : exit_statuses()) {
    text += ".TP\n" + escaped(exit.status) + "\n" + escaped(std::string(exit.meaning)) + ".\n";
  }
  return text;
}

// What comes from elsewhere where an option is not given.
struct Default {
  std::string_view option;
  std::string_view name;  // of an environment variable or a file
  std::string_view meaning;
};

constexpr std::array kVariables = {
    Default{"--plugin-path", "EPHOST_PLUGIN_PATH",
            "Directories, separated by colons, that are searched for plugins after those of "
            "--plugin-path."},
    Default{
        "--allow-writable-plugins", "EPHOST_ALLOW_WRITABLE_PLUGINS",
        "Set to 1, plugins, selections and cache stores are used also where other users can change "
        "them."},
    Default{"--selection", "EPHOST_SELECTION",
            "The selection file to use; set to nothing, none is used."},
    Default{"--selection", "XDG_CONFIG_HOME", "Where the user's selection file is [~/.config]."},
    Default{"--selection", "XDG_CONFIG_DIRS",
            "Directories, separated by colons, where the system's selection file is [/etc/xdg]."},
    Default{"--cache-dir", "EPHOST_CACHE_DIR",
            "The cache store to use where nothing else sets one."}};
constexpr std::array kFiles = {
    Default{"--selection", "$XDG_CONFIG_HOME/ephost/selection.yaml",
            "The user's selection file, unless EPHOST_SELECTION names another one."},
    Default{"--selection", "/etc/ephost/selection.yaml",
            "The system's selection file, for users without one of their own."}};

std::string defaults_section(const DocumentedCommand& command, std::string_view title,
                             std::span<const Default> defaults) {
  std::string text;
  for (const Default& one : defaults) {
    const bool applies = std::ranges::any_of(command.arguments, [&](const auto& argument) {
      return std::ranges::find(argument.flags, one.option) != argument.flags.end();
    });
    if (applies) text += ".TP\n" + bold(one.name) + "\n" + escaped(one.meaning) + "\n";
  }
  return text.empty() ? text : ".SH " + std::string(title) + "\n" + text;
}

}  // namespace

std::string man_page_name(const DocumentedCommand& command) { return join(command.path, "-"); }

std::string man_page(const DocumentedCommand& program, const DocumentedCommand& command) {
  const std::string name = man_page_name(command);
  std::string title = name;
  for (char& c : title) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  std::string help = command.help;
  if (help.ends_with('.')) help.pop_back();
  const std::string& source = program.version.empty() ? "ephost" : program.version;
  std::string text =
      formatted(".TH \"{}\" 1 \"\" \"{}\" \"User Commands\"\n", escaped(title), escaped(source));
  text += ".SH NAME\n" + escaped(name) + " \\- " + escaped(help) + "\n";
  text += ".SH SYNOPSIS\n" + synopsis(command);
  if (!command.subcommands.empty()) text += commands_section(command);
  text += arguments_section(command);
  if (!command.footer.empty()) text += ".SH NOTES\n.nf\n" + escaped(command.footer) + "\n.fi\n";
  if (!command.examples.empty()) {
    text += ".SH EXAMPLES\n.nf\n" + escaped(join(command.examples, "\n")) + "\n.fi\n";
  }
  text += exit_section();
  text += defaults_section(command, "ENVIRONMENT", kVariables);
  text += defaults_section(command, "FILES", kFiles);
  if (&program != &command) text += ".SH SEE ALSO\n" + reference(program) + "\n";
  return text;
}

}  // namespace ephost::cli
