#include "host/cli/arguments/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "host/cli/arguments/argument_parser.h"

namespace ephost::cli::usage_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What is said about a command line of a program with the commands `run` and `cache prune`.
std::string complaint(std::vector<std::string> arguments) {
  CLI::App app("Does things.", "prog");
  ArgumentParser root(&app);
  root.require_subcommand();
  std::string model, profile, format = "table";
  ArgumentParser run = root.add_subcommand("run", "Runs");
  run.add("MODEL", model, "The model").required();
  run.add("-p,--profile", profile, "The profile");
  run.add("--format", format, "The format").one_of({"table", "json"});
  ArgumentParser cache = root.add_subcommand("cache", "Caches");
  cache.require_subcommand();
  static_cast<void>(cache.add_subcommand("prune", "Prunes"));
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error).message();
  }
  return "fine";
}

TEST(Usage, SuggestsTheCommandThatWasMeant) {
  EXPECT_EQ(complaint({"rnu"}),
            "\"rnu\" is not a command of \"prog\"; did you mean run?; see \"prog --help\"");
  EXPECT_EQ(complaint({"cache", "purne"}),
            "\"purne\" is not a command of \"prog cache\"; did you mean prune?; see \"prog cache "
            "--help\"");
  EXPECT_EQ(complaint({"weather"}),
            "\"weather\" is not a command of \"prog\"; see \"prog --help\"");
}

TEST(Usage, SuggestsTheOptionThatWasMeant) {
  for (const std::string word : {"--profil", "--profil=x", "--Profile", "--prfoile"}) {
    const std::string name = word.substr(0, word.find('='));
    EXPECT_EQ(complaint({"run", "m", word}),
              "\"" + name +
                  "\" is not an option of \"prog run\"; did you mean --profile?; see \"prog run "
                  "--help\"");
  }
  EXPECT_THAT(complaint({"run", "m", "--profil", "file"}), HasSubstr("mean --profile?"));
  EXPECT_THAT(complaint({"run", "--formt"}), HasSubstr("mean --format?"));
  EXPECT_THAT(complaint({"run", "m", "--weather"}), Not(HasSubstr("did you mean")));
}

TEST(Usage, SuggestsTheValueThatWasMeant) {
  EXPECT_EQ(
      complaint({"run", "m", "--format", "jsn"}),
      "--format: \"jsn\" is not one of table, json; did you mean json?; see \"prog run --help\"");
  EXPECT_THAT(complaint({"run", "m", "--format", "xml"}), Not(HasSubstr("did you mean")));
  EXPECT_EQ(complaint({"run", "m", "--format", "json"}), "fine");
}

TEST(Usage, LeavesOtherErrorsAsTheyAre) {
  EXPECT_EQ(complaint({"run"}), "MODEL is required; see \"prog run --help\"");
  EXPECT_THAT(complaint({"run", "m", "n"}), HasSubstr("n; see \"prog run --help\""));
}

TEST(Usage, FindsOutWhetherJsonIsAskedFor) {
  const auto asks = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "prog");
    return asks_for_json(static_cast<int>(arguments.size()), arguments.data());
  };
  EXPECT_TRUE(asks({"run", "--format", "json"}));
  EXPECT_TRUE(asks({"--unknown", "--format=json", "x"}));
  EXPECT_TRUE(asks({"--format", "table", "--format", "json"}));
  EXPECT_FALSE(asks({}));
  EXPECT_FALSE(asks({"json"}));
  EXPECT_FALSE(asks({"--format"}));
  EXPECT_FALSE(asks({"--format", "table"}));
  EXPECT_FALSE(asks({"--log-format", "json"}));
  EXPECT_FALSE(asks({"--", "--format", "json"}));
}

}  // namespace
}  // namespace ephost::cli::usage_test
