// A program's command line as plain data, for its manual pages and its completion: the same
// definitions that --help shows.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace ephost::cli {

struct DocumentedArgument {
  std::vector<std::string> flags;    // "-v", "--verbose"; none for a purely positional argument
  std::string positional;            // name of a positional argument, or empty
  std::string value;                 // form of the value, e.g. "FILE"; empty for an option without
  std::vector<std::string> choices;  // all values that are admitted, or empty
  std::vector<std::string> limits;   // other conditions of a value, e.g. "positive"
  std::string default_value;
  std::vector<std::string> excludes;  // flags or names of other arguments, sorted
  std::vector<std::string> needs;
  bool required = false;
  std::string help;
  std::string group;
};

struct DocumentedCommand {
  std::vector<std::string> path;  // {"ephost", "cache", "list"}
  std::string help;
  std::string footer;                 // without the examples
  std::vector<std::string> examples;  // command lines
  std::string version;                // "ephost 0.1.0" if the program has --version
  std::vector<DocumentedArgument> arguments;
  std::vector<DocumentedCommand> subcommands;
};

[[nodiscard]] DocumentedCommand describe_command(CLI::App& app);

}  // namespace ephost::cli
