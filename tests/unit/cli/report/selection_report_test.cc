#include "host/cli/report/selection_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ephost::cli::selection_report_test {
namespace {

using ::testing::HasSubstr;

SelectionReport sample() {
  SelectionReport report;
  report.providers = {{.name = "acme",
                       .version_range = ">=2",
                       .options = {{"cores", "4"}},
                       .devices = {"npu"},
                       .provider = "AcmeExecutionProvider",
                       .version = "2.1.0"},
                      {.name = "lost"},
                      {.name = "CPUExecutionProvider", .is_appended = true}};
  report.session_entries = {{"session.execution_order", "memory"}};
  report.findings = {{.line = 7, .column = 3, .message = "no plugin offers \x1b[31m\nit"}};
  return report;
}

TEST(SelectionReport, HasALineForEachFinding) {
  EXPECT_EQ(findings_text("s.yaml", sample()), "s.yaml:7:3: no plugin offers \\x1b[31m it\n");
  EXPECT_EQ(findings_text("s.yaml", SelectionReport()), "");
}

TEST(SelectionReport, HasATableOfProviders) {
  const std::string text = providers_text(sample());
  EXPECT_THAT(text, HasSubstr("    1  acme     AcmeExecutionProvider  >=2    2.1.0    cores=4"));
  EXPECT_THAT(text, HasSubstr("    2  lost     none"));
  EXPECT_THAT(text, HasSubstr("    3  (added)  none"));
  EXPECT_THAT(text, HasSubstr("session: session.execution_order=memory\n"));
}

TEST(SelectionReport, HasTheSameAsJson) {
  const Json json = selection_json({"s.yaml", "user"}, sample());
  EXPECT_EQ(json.member("origin").string(), "user");
  const Json lost = json.member("providers").elements().at(1);
  EXPECT_TRUE(lost.member("provider").is_null());
  EXPECT_EQ(json.member("session").member("session.execution_order").string(), "memory");
  const Json finding = json.member("findings").elements().at(0);
  EXPECT_EQ(finding.member("line").number(), 7);
  EXPECT_EQ(finding.member("message").string(), "no plugin offers \x1b[31m\nit");
}

}  // namespace
}  // namespace ephost::cli::selection_report_test
