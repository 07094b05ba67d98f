#include "host/cli/documentation/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ephost::cli::man_page_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

DocumentedCommand command_of(std::vector<std::string> path) {
  return {.path = std::move(path), .help = "Run a model", .version = "program 1.2"};
}

std::string page_of(const DocumentedCommand& command) { return man_page(command, command); }

TEST(ManPage, IsNamedAfterTheWholeCommand) {
  const DocumentedCommand program = command_of({"program"});
  const DocumentedCommand command = command_of({"program", "cache", "list"});
  EXPECT_EQ(man_page_name(command), "program-cache-list");
  const std::string page = man_page(program, command);
  EXPECT_THAT(page, StartsWith(".TH \"PROGRAM\\-CACHE\\-LIST\" 1 \"\" \"program 1.2\""));
  EXPECT_THAT(page, HasSubstr(".SH NAME\nprogram\\-cache\\-list \\- Run a model\n"));
  EXPECT_THAT(page, HasSubstr(".SH SEE ALSO\n\\fBprogram\\fR(1)\n"));
}

TEST(ManPage, ShowsTextThatRoffWouldRead) {
  DocumentedCommand command = command_of({"program"});
  command.arguments = {{.flags = {"--x"}, .help = ".hidden \\file"}};
  EXPECT_THAT(page_of(command), HasSubstr("\n\\&.hidden \\efile.\n"));
}

TEST(ManPage, ShowsChoicesLimitsAndTheDefault) {
  DocumentedCommand command = command_of({"program"});
  command.arguments = {{.flags = {"-f", "--format"},
                        .value = "TEXT",
                        .choices = {"table", "json"},
                        .limits = {"short"},
                        .default_value = "table",
                        .excludes = {"--quiet"},
                        .help = "Format"}};
  EXPECT_THAT(page_of(command),
              HasSubstr(".TP\n\\fB\\-f\\fR \\fItable|json\\fR, \\fB\\-\\-format\\fR "
                        "\\fItable|json\\fR\nFormat (short; not with \\-\\-quiet; default: "
                        "table).\n"));
}

TEST(ManPage, PutsPositionalArgumentsIntoTheSynopsis) {
  DocumentedCommand command = command_of({"program"});
  command.arguments = {{.positional = "MODEL", .value = "FILE", .required = true},
                       {.positional = "MORE", .value = "FILE"}};
  EXPECT_THAT(page_of(command), HasSubstr("\\fIMODEL\\fR [\\fIMORE\\fR]\n"));
}

TEST(ManPage, NamesThePagesOfSubcommands) {
  DocumentedCommand command = command_of({"program"});
  command.subcommands = {command_of({"program", "run"})};
  EXPECT_THAT(page_of(command), HasSubstr(".SH COMMANDS\n.TP\n\\fBprogram\\-run\\fR(1)\n"));
}

TEST(ManPage, NamesVariablesAndFilesThatStandForOptions) {
  DocumentedCommand command = command_of({"program", "run"});
  EXPECT_THAT(page_of(command), Not(HasSubstr(".SH ENVIRONMENT")));
  command.arguments = {{.flags = {"--cache-dir"}, .value = "DIR"}};
  EXPECT_THAT(page_of(command), HasSubstr(".SH ENVIRONMENT\n.TP\n\\fBEPHOST_CACHE_DIR\\fR\n"));
  EXPECT_THAT(page_of(command), Not(HasSubstr(".SH FILES")));
  command.arguments = {{.flags = {"--selection"}, .value = "FILE"}};
  EXPECT_THAT(page_of(command), Not(HasSubstr("EPHOST_CACHE_DIR")));
  EXPECT_THAT(page_of(command), HasSubstr(".TP\n\\fBEPHOST_SELECTION\\fR\n"));
  EXPECT_THAT(page_of(command), HasSubstr(".TP\n\\fB/etc/ephost/selection.yaml\\fR\n"));
}

}  // namespace
}  // namespace ephost::cli::man_page_test
