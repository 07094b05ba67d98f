// Declaration and parsing of the arguments of a command line. Wraps CLI11, whose headers only
// argument_parser.cc reads: they take seconds to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ephost::cli {

// An option or positional argument that was declared: a handle, valid as long as the root parser.
// Each function returns the object itself.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}

  // How the help shows its value, e.g. "FILE".
  Argument& type_name(const std::string& name);
  // The heading of the help under which it stands.
  Argument& group(const std::string& name);
  // The help says what the variable holds now.
  Argument& show_default();
  Argument& required();
  // May be given several times, each time with one value. Otherwise an option of several values
  // takes all that follow.
  Argument& repeatable();
  Argument& excludes(const Argument& other);
  Argument& needs(const Argument& other);

  // What the value must be; anything else is a usage error.
  Argument& one_of(const std::vector<std::string>& values);
  Argument& in_range(double lowest, double highest);
  Argument& positive();
  Argument& not_negative();
  // `problem` returns what is wrong with a value, or nothing.
  Argument& check(std::function<std::string(const std::string&)> problem);

 private:
  friend class ArgumentParser;
  CLI::Option* option_;
};

// A program or one of its subcommands: a handle too. Variables are filled in when the command line
// is parsed, and must live until then; what they hold before is the default. `name` is
// "-s,--long", "--long" or, for a positional argument, "NAME".
class ArgumentParser {
 public:
  explicit ArgumentParser(CLI::App* app) : app_(app) {}

  Argument add(const std::string& name, std::string& value, const std::string& help);
  Argument add(const std::string& name, std::filesystem::path& value, const std::string& help);
  Argument add(const std::string& name, double& value, const std::string& help);
  Argument add(const std::string& name, std::optional<double>& value, const std::string& help);
  Argument add(const std::string& name, uint32_t& value, const std::string& help);
  Argument add(const std::string& name, uint64_t& value, const std::string& help);
  Argument add(const std::string& name, std::optional<uint32_t>& value, const std::string& help);
  Argument add(const std::string& name, std::optional<uint64_t>& value, const std::string& help);
  Argument add(const std::string& name, std::vector<std::string>& value, const std::string& help);
  Argument add(const std::string& name, std::vector<std::filesystem::path>& value,
               const std::string& help);
  // An option without a value.
  Argument add_flag(const std::string& name, bool& value, const std::string& help);

  // One of the two must be given; `names` is what the usage error calls them.
  void require_either(const Argument& one, const Argument& other, const std::string& names);

  [[nodiscard]] ArgumentParser add_subcommand(const std::string& name, const std::string& help);
  // One that was added.
  [[nodiscard]] ArgumentParser subcommand(const std::string& name);
  // The command line must name a subcommand.
  void require_subcommand();
  // Whether the command line named this subcommand.
  [[nodiscard]] bool is_chosen() const;

  // Text below the help.
  void footer(const std::string& text);
  // The same, after what is there, with an empty line between.
  void add_to_footer(const std::string& text);
  // Adds an option `--version` that prints `text`.
  void version(const std::string& text);

 private:
  CLI::App* app_;
};

}  // namespace ephost::cli
