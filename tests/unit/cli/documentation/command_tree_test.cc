#include "host/cli/documentation/command_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <tuple>

#include "host/cli/arguments/argument_parser.h"

namespace ephost::cli::command_tree_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A program with one subcommand that has an argument.
class CommandTree : public ::testing::Test {
 protected:
  DocumentedArgument last() { return describe_command(app_).subcommands[0].arguments.back(); }

  CLI::App app_{"Does things.", "program"};
  ArgumentParser root_{&app_};
  ArgumentParser command_ = root_.add_subcommand("run", "Run a model");
  std::string text_;
  double number_ = 0.5;
  bool flag_ = false;
};

TEST_F(CommandTree, HasTheSubcommandsWithTheirPaths) {
  root_.version("program 1.2");
  std::ignore = command_.add_subcommand("twice", "Run it twice");
  const DocumentedCommand program = describe_command(app_);
  EXPECT_EQ(program.version, "program 1.2");
  EXPECT_EQ(program.help, "Does things.");
  EXPECT_THAT(program.path, ElementsAre("program"));
  EXPECT_THAT(program.subcommands[0].path, ElementsAre("program", "run"));
  EXPECT_THAT(program.subcommands[0].subcommands[0].path, ElementsAre("program", "run", "twice"));
  EXPECT_EQ(program.subcommands[0].subcommands[0].help, "Run it twice");
}

TEST_F(CommandTree, TellsThatAFlagHasNoValue) {
  command_.add_flag("-v,--verbose", flag_, "More");
  EXPECT_THAT(last().flags, ElementsAre("-v", "--verbose"));
  EXPECT_EQ(last().value, "");
  EXPECT_EQ(last().help, "More");
}

TEST_F(CommandTree, SeparatesTheFormOfAValueFromItsChoices) {
  text_ = "json";
  command_.add("--format", text_, "Format")
      .type_name("FORM")
      .one_of({"table", "json"})
      .show_default();
  EXPECT_EQ(last().value, "FORM");
  EXPECT_THAT(last().choices, ElementsAre("table", "json"));
  EXPECT_THAT(last().limits, IsEmpty());
  EXPECT_EQ(last().default_value, "json");
}

TEST_F(CommandTree, KeepsAColonInTheFormOfAValue) {
  command_.add("--option", text_, "Option").type_name("NAME:KEY=VALUE").check([](const auto&) {
    return std::string();
  });
  EXPECT_EQ(last().value, "NAME:KEY=VALUE");
}

TEST_F(CommandTree, TellsTheLimitsOfANumber) {
  command_.add("--seconds", number_, "Time").type_name("SECONDS").in_range(0, 9).positive();
  EXPECT_EQ(last().value, "SECONDS");
  EXPECT_THAT(last().limits, ElementsAre("in [0 - 9]", "positive"));
}

TEST_F(CommandTree, TellsWhatExcludesAndNeedsWhat) {
  const Argument one = command_.add("--one", text_, "One");
  const Argument other = command_.add("--other", text_, "Other");
  command_.add("--last", text_, "Last").excludes(other).excludes(one).needs(one);
  EXPECT_THAT(last().excludes, ElementsAre("--one", "--other"));
  EXPECT_THAT(last().needs, ElementsAre("--one"));
}

TEST_F(CommandTree, KnowsThatAnArgumentCanBeAPositionalOneAndAnOption) {
  command_.add("DIR,--cache-dir", text_, "Folder").type_name("DIR").required();
  EXPECT_EQ(last().positional, "DIR");
  EXPECT_THAT(last().flags, ElementsAre("--cache-dir"));
  EXPECT_TRUE(last().required);
}

}  // namespace
}  // namespace ephost::cli::command_tree_test
