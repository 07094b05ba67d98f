#include "host/session/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tests/support/status_matchers.h"

namespace ephost::session::metrics_test {
namespace {

using test::IsOk;
using ::testing::IsEmpty;

// The metric of that name; a failure if there is none.
Metric find(const Metrics& metrics, const std::string& name) {
  const MetricsReport report = metrics.read();
  const auto found = std::ranges::find(report.metrics, name, &Metric::name);
  if (found != report.metrics.end()) return *found;
  ADD_FAILURE() << "no metric " << name;
  return {};
}

// The value under these label values; 0 if there is none.
uint64_t value(const Metrics& metrics, const std::string& name, const LabelValues& labels) {
  for (const MetricSample& sample : find(metrics, name).samples) {
    LabelValues values;
    for (const auto& label : sample.labels) values.push_back(label.second);
    if (values == labels) return sample.value;
  }
  return 0;
}

TEST(Metrics, HaveDistinctNamesByTheRulesOfPrometheus) {
  std::set<std::string> names;
  for (const Metric& metric : Metrics("1.2.3").read().metrics) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_TRUE(metric.name.starts_with("ephost_")) << metric.name;
    EXPECT_EQ(metric.name.ends_with("_total"), metric.type == MetricType::kCounter) << metric.name;
    EXPECT_TRUE(metric.type != MetricType::kHistogram || metric.name.ends_with("_seconds"))
        << metric.name;
    EXPECT_TRUE(metric.help.ends_with(".")) << metric.help;
  }
  EXPECT_EQ(names.size(), kFamilies);
}

TEST(Metrics, StateTheVersionAndWhatHasNoLabelsFromTheBeginning) {
  const Metrics metrics("1.2.3");
  EXPECT_EQ(value(metrics, "ephost_build_info", {"1.2.3"}), 1U);
  EXPECT_EQ(find(metrics, "ephost_live_sessions").samples.size(), 1U);
  EXPECT_THAT(find(metrics, "ephost_sessions_total").samples, IsEmpty());
}

TEST(Metrics, CountHowThingsEnd) {
  Metrics metrics("1");
  const auto end_with = [&](const Status& status) {
    return metered(&metrics, Family::kSessions, Family::kSessionSeconds, "session",
                   [&] { return status; });
  };
  EXPECT_THAT(end_with(Status::ok_status()), IsOk());
  EXPECT_FALSE(end_with(Status(StatusCode::kInvalidGraph, "no")).ok());
  EXPECT_FALSE(end_with(Status(StatusCode::kCancelled, "enough")).ok());
  EXPECT_FALSE(end_with(Status(StatusCode::kDeadlineExceeded, "late")).ok());
  for (const char* outcome : {"succeeded", "failed", "cancelled", "expired"}) {
    EXPECT_EQ(value(metrics, "ephost_sessions_total", {outcome}), 1U) << outcome;
    EXPECT_EQ(value(metrics, "ephost_session_creation_seconds", {outcome}), 1U) << outcome;
  }
  EXPECT_EQ(value(metrics, "ephost_failures_total", {"session", "INVALID_GRAPH"}), 1U);
  EXPECT_EQ(value(metrics, "ephost_failures_total", {"session", "CANCELLED"}), 1U);
}

TEST(Metrics, WithoutThemWorkIsDoneAllTheSame) {
  const Result<int> done = metered(nullptr, Family::kSessions, Family::kSessionSeconds, "session",
                                   [] { return Result<int>(7); });
  ASSERT_THAT(done, IsOk());
  EXPECT_EQ(*done, 7);
}

TEST(Metrics, AddUpHistograms) {
  Metrics metrics("1");
  using std::chrono::nanoseconds;
  for (const int64_t duration : {100, 125, 126, 1'000'000}) {
    metrics.observe(Family::kProviderSeconds, {"Acme", "compile"}, nanoseconds(duration));
  }
  metrics.observe(Family::kProviderSeconds, {"Acme", "compile"}, std::chrono::hours(1));
  const Metric metric = find(metrics, "ephost_provider_compile_seconds");
  ASSERT_EQ(metric.samples.size(), 1U);
  const MetricSample& sample = metric.samples.front();
  ASSERT_EQ(sample.buckets.size(), metric.bounds.size());
  EXPECT_EQ(sample.buckets[0], 2U);
  EXPECT_EQ(sample.buckets[1], 3U);
  EXPECT_EQ(sample.buckets.back(), 4U);
  EXPECT_EQ(sample.value, 5U);
  EXPECT_NEAR(sample.sum, 3600.001000351, 1e-9);
  EXPECT_TRUE(std::ranges::is_sorted(sample.buckets));
}

TEST(Metrics, SharesOfGaugesEndWithTheirOwners) {
  Metrics metrics("1");
  const auto bytes = [&] { return value(metrics, "ephost_planned_bytes", {"host"}); };
  {
    GaugeShare first(metrics);
    first.add(Family::kPlannedBytes, {"host"}, 100);
    GaugeShare second(metrics);
    second.add(Family::kPlannedBytes, {"host"}, 11);
    EXPECT_EQ(bytes(), 111U);
    GaugeShare moved = std::move(second);
    EXPECT_EQ(bytes(), 111U);
    first = GaugeShare();
    EXPECT_EQ(bytes(), 11U);
  }
  EXPECT_EQ(bytes(), 0U);
}

TEST(Metrics, CountRunsByTheirProviders) {
  Metrics metrics("1");
  RunMeter& acme = metrics.runs_of("Acme");
  EXPECT_EQ(&metrics.runs_of("Acme"), &acme);
  EXPECT_NE(&metrics.runs_of("Cpu"), &acme);
  acme.begin();
  acme.begin();
  acme.end(RunOutcome::kFailed, std::chrono::nanoseconds(1), {.inputs = 3, .outputs = 0});
  EXPECT_EQ(value(metrics, "ephost_runs_total", {"Acme", "failed"}), 1U);
  EXPECT_EQ(value(metrics, "ephost_runs_total", {"Acme", "succeeded"}), 0U);
  EXPECT_EQ(value(metrics, "ephost_run_seconds", {"Acme", "failed"}), 1U);
  EXPECT_EQ(value(metrics, "ephost_runs_in_progress", {"Acme"}), 1U);
  EXPECT_EQ(value(metrics, "ephost_run_input_bytes_total", {"Acme"}), 3U);
  EXPECT_EQ(find(metrics, "ephost_run_seconds").samples.size(), 1U);  // none of runs without any
}

}  // namespace
}  // namespace ephost::session::metrics_test
