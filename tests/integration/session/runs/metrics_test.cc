// What an environment counts of sessions with the scripted provider.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::metrics_test {
namespace {

using test::IsOk;
using test::scripted;
using test::TempDirectory;
using Labels = std::vector<std::string>;

class MetricsTest : public ::testing::Test {
 protected:
  static Environment counting() {
    EnvironmentOptions options;
    options.plugin_directories = {test::fixture_directory("scripted"), EPHOST_PLUGINS};
    options.search_default_directories = false;
    options.metrics = true;
    auto created = Environment::create(options);
    EXPECT_THAT(created, IsOk());
    return std::move(created).value();
  }

  Result<Session> create(const SessionOptions& options = scripted()) {
    return Session::create(environment_, model_, options);
  }
  // The value under these labels, 0 if there is none.
  [[nodiscard]] uint64_t value(const std::string& name, const Labels& labels = {}) const {
    const auto report = environment_.metrics();
    EXPECT_THAT(report, IsOk());
    const auto metric = std::ranges::find(report->metrics, name, &Metric::name);
    if (metric == report->metrics.end()) {
      ADD_FAILURE() << "no metric " << name;
      return 0;
    }
    for (const MetricSample& sample : metric->samples) {
      Labels values;
      for (const auto& label : sample.labels) values.push_back(label.second);
      if (values == labels) return sample.value;
    }
    return 0;
  }
  [[nodiscard]] uint64_t runs(const std::string& outcome) const {
    EXPECT_EQ(value("ephost_run_seconds", {kBoth, outcome}),
              value("ephost_runs_total", {kBoth, outcome}));
    return value("ephost_runs_total", {kBoth, outcome});
  }

  static constexpr const char* kScripted = "ScriptedExecutionProvider";
  static constexpr const char* kBoth = "ScriptedExecutionProvider,CPUExecutionProvider";
  TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, test::scripted_model());
  Environment environment_ = counting();
};

TEST_F(MetricsTest, AreKeptOnRequestOnly) {
  const Environment other = test::scripted_environment();
  EXPECT_EQ(other.metrics().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(other.prometheus_text().status().code(), StatusCode::kInvalidArgument);
  auto session = Session::create(other, model_, scripted());
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(test::run(*session), IsOk());
}

TEST_F(MetricsTest, CountSessionsAndWhatTheyKeep) {
  {
    const auto first = create();
    const auto second = create();
    ASSERT_THAT(first, IsOk());
    ASSERT_THAT(second, IsOk());
    EXPECT_EQ(value("ephost_live_sessions"), 2U);
    EXPECT_GT(value("ephost_planned_bytes", {"host"}), 0U);
    EXPECT_GT(value("ephost_weight_bytes"), 0U);
  }
  EXPECT_FALSE(Session::create(environment_, folder_ / "missing.onnx", scripted()).ok());
  EXPECT_EQ(value("ephost_sessions_total", {"succeeded"}), 2U);
  EXPECT_EQ(value("ephost_sessions_total", {"failed"}), 1U);
  EXPECT_EQ(value("ephost_session_creation_seconds", {"succeeded"}), 2U);
  EXPECT_EQ(value("ephost_failures_total", {"session", "NO_SUCHFILE"}), 1U);
  EXPECT_EQ(value("ephost_partitions_total", {kScripted, "compile"}), 4U);
  EXPECT_EQ(value("ephost_live_sessions"), 0U);
  EXPECT_EQ(value("ephost_planned_bytes", {"host"}), 0U);
  EXPECT_EQ(value("ephost_weight_bytes"), 0U);
}

TEST_F(MetricsTest, CountACancelledCreation) {
  SessionOptions options = scripted();
  const std::atomic<bool> cancelled{true};
  options.set_load_cancellation_flag(&cancelled);
  EXPECT_FALSE(create(options).ok());
  EXPECT_EQ(value("ephost_sessions_total", {"cancelled"}), 1U);
}

TEST_F(MetricsTest, CountRunsAndTheirBytes) {
  auto session = create();
  ASSERT_THAT(session, IsOk());
  for (int i = 0; i < 3; ++i) EXPECT_THAT(test::run(*session), IsOk());
  auto binding = session->create_binding();
  ASSERT_THAT(binding, IsOk());
  ASSERT_THAT(binding->bind_input("x", test::random_inputs(*session)[0].value), IsOk());
  EXPECT_THAT(session->run(*binding), IsOk());
  EXPECT_EQ(runs("succeeded"), 4U);
  EXPECT_EQ(runs("failed"), 0U);
  EXPECT_EQ(value("ephost_runs_in_progress", {kBoth}), 0U);
  EXPECT_EQ(value("ephost_run_input_bytes_total", {kBoth}), 4U * 4 * sizeof(float));
  EXPECT_EQ(value("ephost_run_output_bytes_total", {kBoth}), 4U * 4 * sizeof(float));
}

TEST_F(MetricsTest, SayWhichProviderFailedInARun) {
  auto session = create(scripted({{"fail", "compute"}}));
  ASSERT_THAT(session, IsOk());
  EXPECT_FALSE(test::run(*session).ok());
  EXPECT_EQ(runs("failed"), 1U);
  EXPECT_EQ(value("ephost_failures_total", {"run", "EP_FAIL"}), 1U);
  EXPECT_EQ(value("ephost_provider_failures_total", {kScripted, "run", "EP_FAIL"}), 1U);
  auto unable = create(scripted({{"fail", "begin_run"}}));
  ASSERT_THAT(unable, IsOk());
  EXPECT_FALSE(test::run(*unable).ok());
  EXPECT_EQ(value("ephost_provider_failures_total", {kScripted, "run", "EP_FAIL"}), 2U);
}

TEST_F(MetricsTest, BlameNoProviderForInputsOrACancelledRun) {
  auto session = create();
  ASSERT_THAT(session, IsOk());
  const std::vector<NamedValue> wrong = {{"x", *Value::allocate(ElementType::kFloat, {5})}};
  EXPECT_FALSE(session->run(wrong).ok());
  EXPECT_EQ(runs("failed"), 1U);
  const std::atomic<bool> cancelled{true};
  EXPECT_FALSE(session->run(test::random_inputs(*session), {}, {.cancelled = &cancelled}).ok());
  EXPECT_EQ(runs("cancelled"), 1U);
  const RunOptions late = {.deadline = std::chrono::steady_clock::now()};
  EXPECT_FALSE(session->run(test::random_inputs(*session), {}, late).ok());
  EXPECT_EQ(runs("expired"), 1U);
  EXPECT_EQ(value("ephost_failures_total", {"run", "INVALID_ARGUMENT"}), 1U);
  EXPECT_EQ(value("ephost_failures_total", {"run", "CANCELLED"}), 1U);
  EXPECT_EQ(value("ephost_failures_total", {"run", "DEADLINE_EXCEEDED"}), 1U);
  for (const char* code : {"INVALID_ARGUMENT", "CANCELLED", "DEADLINE_EXCEEDED", "EP_FAIL"}) {
    EXPECT_EQ(value("ephost_provider_failures_total", {kScripted, "run", code}), 0U);
  }
}

TEST_F(MetricsTest, BlameNoProviderThatSaysThatARunWasToEnd) {
  for (const auto& [code, outcome] : {std::pair(1002, "cancelled"), std::pair(1003, "expired")}) {
    for (const char* point : {"compute", "begin_run"}) {
      auto session = create(scripted({{"fail", point}, {"fail_code", std::to_string(code)}}));
      ASSERT_THAT(session, IsOk());
      EXPECT_FALSE(test::run(*session).ok());
    }
    EXPECT_EQ(runs(outcome), 2U);
  }
  EXPECT_EQ(runs("failed"), 0U);
  for (const char* code : {"CANCELLED", "DEADLINE_EXCEEDED"}) {
    EXPECT_EQ(value("ephost_failures_total", {"run", code}), 2U);
    EXPECT_EQ(value("ephost_provider_failures_total", {kScripted, "run", code}), 0U);
  }
}

TEST_F(MetricsTest, CountRunsOfManyThreads) {
  auto session = create();
  ASSERT_THAT(session, IsOk());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int run = 0; run < 50; ++run) EXPECT_THAT(test::run(*session), IsOk());
      });
    }
  }
  EXPECT_EQ(runs("succeeded"), 200U);
}

TEST_F(MetricsTest, CountFallbacksWithTheirReason) {
  auto session = create(scripted({{"fail", "compile"}}));
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(value("ephost_fallbacks_total", {kScripted, "EP_FAIL"}), session->fallbacks().size());
  // Both partitions at once, and each of them alone.
  EXPECT_EQ(value("ephost_provider_failures_total", {kScripted, "compile", "EP_FAIL"}), 3U);
  EXPECT_THAT(test::run(*session), IsOk());
  EXPECT_EQ(value("ephost_runs_total", {"CPUExecutionProvider", "succeeded"}), 1U);
}

TEST_F(MetricsTest, CountWhatTheCacheStoreDoes) {
  SessionOptions options = scripted();
  options.add_config_entry("ep.cache_dir", (folder_ / "store").string());
  ASSERT_THAT(create(options), IsOk());
  EXPECT_EQ(value("ephost_context_cache_total", {"miss"}), 1U);
  EXPECT_EQ(value("ephost_context_cache_stores_total"), 1U);
  ASSERT_THAT(create(options), IsOk());
  EXPECT_EQ(value("ephost_context_cache_total", {"hit"}), 1U);
  EXPECT_EQ(value("ephost_partitions_total", {kScripted, "restore"}), 2U);
  EXPECT_EQ(value("ephost_context_cache_rejections_total"), 0U);
  SessionOptions failing = scripted({{"fail", "restore"}});
  failing.add_config_entry("ep.cache_dir", (folder_ / "store").string());
  static_cast<void>(create(failing));
  static_cast<void>(create(failing));
  EXPECT_GE(value("ephost_context_cache_rejections_total"), 1U);
}

TEST_F(MetricsTest, CountCompilations) {
  ModelCompilationOptions compilation;
  compilation.input_model_path = model_;
  compilation.output_model_path = folder_ / "model_ctx.onnx";
  ASSERT_THAT(compile_model(environment_, scripted(), compilation), IsOk());
  compilation.input_model_path = folder_ / "missing.onnx";
  EXPECT_FALSE(compile_model(environment_, scripted(), compilation).ok());
  EXPECT_EQ(value("ephost_compilations_total", {"succeeded"}), 1U);
  EXPECT_EQ(value("ephost_compilations_total", {"failed"}), 1U);
  EXPECT_EQ(value("ephost_failures_total", {"compilation", "NO_SUCHFILE"}), 1U);
  EXPECT_EQ(value("ephost_sessions_total", {"succeeded"}), 0U);
}

TEST_F(MetricsTest, ComeAsText) {
  auto session = create();
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(test::run(*session), IsOk());
  const auto text = environment_.prometheus_text();
  ASSERT_THAT(text, IsOk());
  EXPECT_THAT(*text,
              ::testing::HasSubstr("\nephost_runs_total{providers=\"ScriptedExecutionProvider,"
                                   "CPUExecutionProvider\",outcome=\"succeeded\"} 1\n"));
  EXPECT_THAT(*text, ::testing::HasSubstr("\nephost_live_sessions 1\n"));
}

}  // namespace
}  // namespace ephost::metrics_test
