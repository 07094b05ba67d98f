#include <ephost/session_options.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace ephost::session_options_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ApiSessionOptions, KeepTheLastEntryOfAKey) {
  SessionOptions options;
  options.add_config_entry("a", "1").add_config_entry("b", "2").add_config_entry("a", "3");
  EXPECT_THAT(options.config_entries(), ElementsAre(Pair("a", "3"), Pair("b", "2")));
  EXPECT_EQ(options.config_entry("b"), "2");
  EXPECT_FALSE(options.config_entry("c"));
}

TEST(ApiSessionOptions, CopiesAreIndependent) {
  SessionOptions options;
  options.add_config_entry("a", "1");
  SessionOptions copy = options;
  copy.add_config_entry("a", "2");
  EXPECT_EQ(options.config_entry("a"), "1");
  options = copy;
  EXPECT_EQ(options.config_entry("a"), "2");
}

TEST(ApiSessionOptions, AreDescribedEntryByEntry) {
  const std::vector<ConfigEntryDescription> entries = known_config_entries();
  const auto found =
      std::ranges::find(entries, "session.execution_mode", &ConfigEntryDescription::key);
  ASSERT_NE(found, entries.end());
  EXPECT_EQ(found->scope, ConfigScope::kSession);
  EXPECT_EQ(found->subject, "Threads and time");
  EXPECT_EQ(found->values, "sequential or parallel");
  EXPECT_EQ(found->default_value, "sequential");
  EXPECT_EQ(found->meaning, "how steps run: sequential or parallel");
  EXPECT_TRUE(found->is_own);
  EXPECT_FALSE(
      std::ranges::find(entries, "ep.context_enable", &ConfigEntryDescription::key)->is_own);
}

TEST(ApiSessionOptions, ListProvidersInTheirOrder) {
  SessionOptions options;
  options.append_execution_provider(ProviderRequest{
      .name = "acme", .version_range = ">=1.2", .options = {{"x", "y"}}, .devices = {"npu:1"}});
  options.append_execution_provider("cpu");
  const auto providers = options.providers();
  ASSERT_EQ(providers.size(), 2U);
  EXPECT_EQ(providers[0].name, "acme");
  EXPECT_EQ(providers[0].version_range, ">=1.2");
  EXPECT_THAT(providers[0].options, ElementsAre(Pair("x", "y")));
  EXPECT_THAT(providers[0].devices, ElementsAre("npu:1"));
  EXPECT_EQ(providers[1].name, "cpu");
}

TEST(ApiSessionOptions, RefuseDevicesOfSeveralProviders) {
  SessionOptions options;
  EpDevice one;
  one.provider = "A";
  EpDevice other;
  other.provider = "B";
  EXPECT_EQ(options.append_execution_provider_v2(std::array{one, other}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(options.append_execution_provider_v2({}).code(), StatusCode::kInvalidArgument);
}

TEST(ApiSessionOptions, RefuseNumbersThatMeanNothing) {
  const auto& table = *ephost_api_v1()->session_options;
  const SessionOptions options;
  const auto refuses = [](ephost_status* status) {
    return detail::take_status(status).code() == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refuses(table.set_execution_mode(options.handle(), 2)));
  EXPECT_TRUE(refuses(table.set_graph_optimization_level(options.handle(), -1)));
  EXPECT_TRUE(refuses(table.set_ep_selection_policy(options.handle(), 7)));
}

TEST(ApiSessionOptions, RefuseNumbersOfNoEnumerator) {
  SessionOptions options;
  EXPECT_THROW(options.set_log_severity_level(static_cast<LoggingLevel>(99)),
               std::invalid_argument);
  EXPECT_THROW(options.set_ep_selection_policy(static_cast<EpDevicePolicy>(99)),
               std::invalid_argument);
}

TEST(ApiSessionOptions, ReportASelectionFileThatIsMissing) {
  SessionOptions options;
  EXPECT_EQ(options.load_selection("/nowhere/selection.yaml").code(), StatusCode::kNoSuchFile);
}

}  // namespace
}  // namespace ephost::session_options_test
