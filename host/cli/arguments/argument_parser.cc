#include "host/cli/arguments/argument_parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::cli {

namespace fs = std::filesystem;

Argument& Argument::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Argument& Argument::group(const std::string& name) {
  option_->group(name);
  return *this;
}

Argument& Argument::show_default() {
  option_->capture_default_str();
  return *this;
}

Argument& Argument::required() {
  option_->required();
  return *this;
}

Argument& Argument::repeatable() {
  option_->allow_extra_args(false);
  return *this;
}

Argument& Argument::excludes(const Argument& other) {
  option_->excludes(other.option_);
  return *this;
}

Argument& Argument::needs(const Argument& other) {
  option_->needs(other.option_);
  return *this;
}

Argument& Argument::one_of(const std::vector<std::string>& values) {
  const auto problem = [values](const std::string& text) -> std::string {
    if (std::ranges::find(values, text) != values.end()) return "";
    const std::vector<std::string_view> known(values.begin(), values.end());
    const auto nearest = nearest_match(text, known);
    return formatted("{} is not one of {}{}", quote(text), join(values, ", "),
                     nearest ? formatted("; did you mean {}?", *nearest) : std::string());
  };
  // Manual pages and completion read the values in the description.
  option_->check(CLI::Validator(problem, "{" + join(values, ",") + "}"));
  return *this;
}

Argument& Argument::in_range(double lowest, double highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Argument& Argument::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Argument& Argument::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Argument& Argument::check(std::function<std::string(const std::string&)> problem) {
  option_->check(CLI::Validator(std::move(problem), ""));
  return *this;
}

Argument ArgumentParser::add(const std::string& name, std::string& value, const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add(const std::string& name, fs::path& value, const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add(const std::string& name, double& value, const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add(const std::string& name, uint32_t& value, const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add(const std::string& name, uint64_t& value, const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add(const std::string& name, std::optional<double>& value,
                             const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add(const std::string& name, std::optional<uint32_t>& value,
                             const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add(const std::string& name, std::optional<uint64_t>& value,
                             const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add(const std::string& name, std::vector<std::string>& value,
                             const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add(const std::string& name, std::vector<fs::path>& value,
                             const std::string& help) {
  return Argument(app_->add_option(name, value, help));
}

Argument ArgumentParser::add_flag(const std::string& name, bool& value, const std::string& help) {
  return Argument(app_->add_flag(name, value, help));
}

void ArgumentParser::require_either(const Argument& one, const Argument& other,
                                    const std::string& names) {
  app_->callback([first = one.option_, second = other.option_, names] {
    if (first->count() + second->count() == 0) throw CLI::RequiredError(names);
  });
}

ArgumentParser ArgumentParser::add_subcommand(const std::string& name, const std::string& help) {
  return ArgumentParser(app_->add_subcommand(name, help));
}

void ArgumentParser::require_subcommand() { app_->require_subcommand(1); }

bool ArgumentParser::is_chosen() const { return app_->parsed(); }

ArgumentParser ArgumentParser::subcommand(const std::string& name) {
  return ArgumentParser(app_->get_subcommand(name));
}

void ArgumentParser::footer(const std::string& text) { app_->footer(text); }

void ArgumentParser::add_to_footer(const std::string& text) {
  const std::string before = app_->get_footer();
  app_->footer(before.empty() ? text : before + "\n\n" + text);
}

void ArgumentParser::version(const std::string& text) { app_->set_version_flag("--version", text); }

}  // namespace ephost::cli
