#include <ephost/environment.h>
#include <ephost/session.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::environment_test {
namespace {

using test::IsOk;

TEST(ApiEnvironment, ListsDirectoriesAndSkippedManifests) {
  const test::TempDirectory folder;
  folder.write("broken/manifest.yaml", "nonsense: [");
  EnvironmentOptions options;
  options.plugin_directories = {folder.path()};
  options.search_default_directories = false;
  const auto environment = Environment::create(options);
  ASSERT_THAT(environment, IsOk());
  EXPECT_TRUE(environment->plugins().empty());
  ASSERT_EQ(environment->searched_directories().size(), 1U);
  EXPECT_EQ(environment->searched_directories()[0].path, folder.path());
  EXPECT_EQ(environment->searched_directories()[0].origin, "given");
  ASSERT_EQ(environment->skipped_plugins().size(), 1U);
  EXPECT_FALSE(environment->skipped_plugins()[0].reason.ok());
  EXPECT_EQ(environment->check_loadable({}).code(), StatusCode::kNotFound);
  EXPECT_TRUE(environment->session_groups().empty());
  EXPECT_EQ(environment->abandon_session_group("x").code(), StatusCode::kNotFound);
}

TEST(ApiEnvironment, TakesTheOptionsOfAnOlderProgram) {
  ephost_environment_options options = {};
  options.struct_size = offsetof(ephost_environment_options, skip_default_directories);
  options.skip_default_directories = -1;  // not covered: has its default
  ephost_environment* environment = nullptr;
  ASSERT_EQ(ephost_api_v1()->environment->create(&options, &environment), nullptr);
  const ephost_plugin_list* list = nullptr;
  ASSERT_EQ(ephost_api_v1()->environment->plugins(environment, &list), nullptr);
  EXPECT_GT(list->directory_count, 0U);
  ephost_api_v1()->release_report(list);
  ephost_api_v1()->environment->release(environment);
}

TEST(ApiEnvironment, CountsOnRequest) {
  EnvironmentOptions options;
  options.search_default_directories = false;
  const auto without = Environment::create(options);
  ASSERT_THAT(without, IsOk());
  EXPECT_EQ(without->metrics().status().code(), StatusCode::kInvalidArgument);
  options.metrics = true;
  const auto environment = Environment::create(options);
  ASSERT_THAT(environment, IsOk());
  EXPECT_FALSE(Session::create(*environment, "missing.onnx").ok());
  const auto report = environment->metrics();
  ASSERT_THAT(report, IsOk());
  const auto found = std::find_if(
      report->metrics.begin(), report->metrics.end(),
      [](const Metric& metric) { return metric.name == "ephost_session_creation_seconds"; });
  ASSERT_NE(found, report->metrics.end());
  EXPECT_EQ(found->type, MetricType::kHistogram);
  ASSERT_EQ(found->samples.size(), 1U);
  EXPECT_EQ(found->samples[0].labels,
            (std::vector<std::pair<std::string, std::string>>{{"outcome", "failed"}}));
  EXPECT_EQ(found->samples[0].value, 1U);
  EXPECT_GT(found->samples[0].sum, 0);
  ASSERT_EQ(found->samples[0].buckets.size(), found->bounds.size());
  EXPECT_EQ(found->samples[0].buckets.back(), 1U);
  const auto text = environment->prometheus_text();
  ASSERT_THAT(text, IsOk());
  EXPECT_NE(text->find("ephost_sessions_total{outcome=\"failed\"} 1\n"), std::string::npos);
}

TEST(ApiEnvironment, NamesPolicies) {
  EXPECT_EQ(ep_device_policy_name(EpDevicePolicy::kPreferNpu), "PREFER_NPU");
  const auto policy = parse_ep_device_policy("max_efficiency");
  ASSERT_THAT(policy, IsOk());
  EXPECT_EQ(*policy, EpDevicePolicy::kMaxEfficiency);
  EXPECT_EQ(parse_ep_device_policy("FASTEST").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ephost::environment_test
