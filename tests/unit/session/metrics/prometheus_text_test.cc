#include "host/session/metrics/prometheus_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ephost::session::prometheus_text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PrometheusText, WritesEachTypeOfMetric) {
  MetricsReport report;
  report.metrics.push_back({.name = "a_total",
                            .help = "Things.",
                            .type = MetricType::kCounter,
                            .samples = {{.labels = {{"x", "1"}, {"y", "2"}}, .value = 7}}});
  report.metrics.push_back(
      {.name = "b", .help = "Now.", .type = MetricType::kGauge, .samples = {{.value = 3}}});
  report.metrics.push_back(
      {.name = "c_seconds",
       .help = "Long.",
       .type = MetricType::kHistogram,
       .bounds = {1.25e-7, 0.5},
       .samples = {{.labels = {{"x", "1"}}, .value = 9, .sum = 2.5, .buckets = {4, 8}}}});
  EXPECT_EQ(prometheus_text(report),
            "# HELP a_total Things.\n"
            "# TYPE a_total counter\n"
            "a_total{x=\"1\",y=\"2\"} 7\n"
            "# HELP b Now.\n"
            "# TYPE b gauge\n"
            "b 3\n"
            "# HELP c_seconds Long.\n"
            "# TYPE c_seconds histogram\n"
            "c_seconds_bucket{x=\"1\",le=\"1.25e-07\"} 4\n"
            "c_seconds_bucket{x=\"1\",le=\"0.5\"} 8\n"
            "c_seconds_bucket{x=\"1\",le=\"+Inf\"} 9\n"
            "c_seconds_sum{x=\"1\"} 2.5\n"
            "c_seconds_count{x=\"1\"} 9\n");
}

TEST(PrometheusText, EscapesAnyText) {
  MetricsReport report;
  report.metrics.push_back({.name = "a",
                            .help = "one\\two\nthree \"four\"",
                            .samples = {{.labels = {{"x", "q\"b\\n\nr\xff\x1b"}}}}});
  const std::string text = prometheus_text(report);
  EXPECT_THAT(text, HasSubstr("# HELP a one\\\\two\\nthree \"four\"\n"));
  EXPECT_THAT(text, HasSubstr("a{x=\"q\\\"b\\\\n\\nr\ufffd\\\\x1b\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ephost::session::prometheus_text_test
