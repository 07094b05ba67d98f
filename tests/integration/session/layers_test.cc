// Sessions with layers between the host and its providers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/fixtures/fixtures.h"
#include "tests/integration/session/sample.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::layers_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

// A run with all messages of its environment.
struct Logged {
  Result<std::vector<Value>> outputs;
  std::vector<std::string> messages;
};

Logged run_logged(const std::filesystem::path& model, const SessionOptions& options) {
  std::mutex mutex;
  std::vector<std::string> messages;
  EnvironmentOptions with_log;
  with_log.plugin_directories = {EPHOST_PLUGINS, test::fixture_directory("defective")};
  with_log.search_default_directories = false;
  with_log.logging_function = [&](const LogMessage& message) {
    const std::lock_guard lock(mutex);
    messages.emplace_back(message.message);
  };
  const auto run = [&]() -> Result<std::vector<Value>> {
    EPHOST_ASSIGN_OR_RETURN(const Environment environment, Environment::create(with_log));
    EPHOST_ASSIGN_OR_RETURN(Session session, Session::create(environment, model, options));
    return session.run(test::random_inputs(session));
  };
  auto outputs = run();
  return {std::move(outputs), std::move(messages)};
}

class Layers : public ::testing::Test {
 protected:
  [[nodiscard]] SessionOptions traced(std::string_view format = "text") const {
    SessionOptions options = test::with_dnnl();
    options.add_config_entry("session.layers", "trace");
    options.add_config_entry("session.trace.file", file().string());
    options.add_config_entry("session.trace.format", std::string(format));
    return options;
  }
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "trace"; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] const test::TempDirectory& temporary() const { return folder_; }

 private:
  test::TempDirectory folder_;
};

TEST_F(Layers, LeaveResultsAsTheyAre) {
  for (const char* model : {"tiny_diamond", "tiny_residual"}) {
    const auto plain = test::run_model(test::model_path(model), test::with_dnnl());
    const auto layered = test::run_model(test::model_path(model), traced());
    ASSERT_THAT(plain, IsOk());
    ASSERT_THAT(layered, IsOk());
    test::expect_close(*layered, *plain);
  }
  EXPECT_THAT(test::read(file()),
              AllOf(HasSubstr("-> dnnl get_capability"), HasSubstr("-> cpu create_kernel"),
                    HasSubstr("=> dnnl \"dnnl\" compute = OK")));
}

TEST_F(Layers, ThatValidateFindNothingInTheShippedProviders) {
  for (const char* model : {"tiny_cnn", "tiny_diamond", "tiny_mlp", "tiny_residual"}) {
    for (const char* guard : {"zones", "pages"}) {
      SessionOptions options = test::with_dnnl();
      options.add_config_entry("session.layers", "validate;trace");
      options.add_config_entry("session.trace.file", file().string());
      options.add_config_entry("session.validate.guard", guard);
      const auto plain = test::run_model(test::model_path(model), test::with_dnnl());
      const Logged validated = run_logged(test::model_path(model), options);
      ASSERT_THAT(plain, IsOk());
      ASSERT_THAT(validated.outputs, IsOk());
      test::expect_close(*validated.outputs, *plain);
      EXPECT_THAT(validated.messages, Each(Not(HasSubstr("validation"))));
    }
  }
}

TEST_F(Layers, ThatValidateFindNothingInRunsInParallelAndContexts) {
  SessionOptions options = test::with_dnnl();
  options.add_config_entry("session.layers", "validate");
  options.add_config_entry("session.execution_mode", "parallel");
  const std::filesystem::path context = folder() / "model_ctx.onnx";
  options.add_config_entry("ep.context_enable", "1");
  options.add_config_entry("ep.context_file_path", context.string());
  const Logged compiled = run_logged(test::model_path("tiny_diamond"), options);
  ASSERT_THAT(compiled.outputs, IsOk());
  EXPECT_THAT(compiled.messages, Each(Not(HasSubstr("validation"))));
  SessionOptions loading = test::with_dnnl();
  loading.add_config_entry("session.layers", "validate");
  loading.add_config_entry("session.validate.guard", "pages");
  loading.add_config_entry("session.validate.deadline", "600");
  loading.add_config_entry("session.validate.abort_after", "2");
  const Logged restored = run_logged(context, loading);
  ASSERT_THAT(restored.outputs, IsOk());
  test::expect_close(*restored.outputs, *compiled.outputs);
  EXPECT_THAT(restored.messages, Each(Not(HasSubstr("validation"))));
}

TEST_F(Layers, ThatValidateFindNothingWhereShapesAreOpen) {
  SessionOptions options;
  options.add_config_entry("session.layers", "validate");
  const Logged validated = run_logged(test::model_path("tiny_dynamic"), options);
  const auto plain = test::run_model(test::model_path("tiny_dynamic"), {});
  ASSERT_THAT(plain, IsOk());
  ASSERT_THAT(validated.outputs, IsOk());
  test::expect_close(*validated.outputs, *plain);
  EXPECT_THAT(validated.messages, Each(Not(HasSubstr("validation"))));
}

TEST_F(Layers, ThatValidateCompareResultsWithTheCpuProvider) {
  for (const char* model : {"tiny_cnn", "tiny_diamond", "tiny_mlp", "tiny_residual"}) {
    SessionOptions options = test::with_dnnl();
    options.add_config_entry("session.layers", "validate;trace");
    options.add_config_entry("session.trace.file", file().string());
    options.add_config_entry("session.validate.results", "1");
    options.set_log_severity_level(LoggingLevel::kInfo);
    const Logged validated = run_logged(test::model_path(model), options);
    ASSERT_THAT(validated.outputs, IsOk());
    EXPECT_THAT(
        validated.messages,
        Each(Not(AnyOf(HasSubstr("validation: "), HasSubstr("does not compare the results")))));
  }
  EXPECT_THAT(test::read(file()), HasSubstr("=> dnnl \"dnnl\" compute = OK"));
}

TEST_F(Layers, ThatValidateFindResultsThatAreWrong) {
  ::setenv("EPHOST_FAULT", "wrong", 1);  // of numbers below zero
  const std::filesystem::path model = test::save(temporary(), test::scripted_model(16));
  SessionOptions options;
  options.append_execution_provider("defective");
  options.add_config_entry("session.layers", "validate");
  const Logged plain = run_logged(model, options);
  EXPECT_THAT(plain.outputs, IsOk());
  options.add_config_entry("session.validate.results", "1");
  const Logged compared = run_logged(model, options);
  ::unsetenv("EPHOST_FAULT");
  EXPECT_THAT(compared.outputs.status().message(),
              AllOf(HasSubstr("validation: compute of DefectiveExecutionProvider of "),
                    HasSubstr("gives another result than the CPU provider in output 0"),
                    HasSubstr("(rule 25)")));
}

TEST_F(Layers, MayBeOverOneProviderOnly) {
  SessionOptions options = test::with_dnnl();
  options.add_config_entry("session.layers.dnnl", "trace");
  options.add_config_entry("session.trace.file", file().string());
  ASSERT_THAT(test::run_model(test::model_path("tiny_diamond"), options), IsOk());
  EXPECT_THAT(test::read(file()), AllOf(HasSubstr(" dnnl "), Not(HasSubstr(" cpu "))));
}

TEST_F(Layers, OfUnknownNamesAreRefused) {
  SessionOptions options;
  options.add_config_entry("session.layers", "tracing");
  const auto session =
      Session::create(test::environment(), test::model_path("tiny_diamond"), options);
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(session.status().message(),
              AllOf(HasSubstr("no layer \"tracing\""),
                    HasSubstr("the layers are: trace, validate, regroup")));
}

TEST_F(Layers, PassContextsThrough) {
  SessionOptions options = traced();
  const std::filesystem::path context = folder() / "model_ctx.onnx";
  options.add_config_entry("ep.context_enable", "1");
  options.add_config_entry("ep.context_file_path", context.string());
  const auto compiled = test::run_model(test::model_path("tiny_diamond"), options);
  ASSERT_THAT(compiled, IsOk());
  const auto restored = test::run_model(context, traced());
  ASSERT_THAT(restored, IsOk());
  test::expect_close(*restored, *compiled);
  EXPECT_THAT(test::read(file()), HasSubstr("\"context\":{\"bytes\":"));
}

TEST_F(Layers, LetSessionsOfAGroupShareTheirProvider) {
  const auto environment = test::environment();
  SessionOptions options = traced();
  options.add_config_entry("ep.share_ep_contexts", "1");
  const auto first = Session::create(environment, test::model_path("tiny_diamond"), options);
  ASSERT_THAT(first, IsOk());
  const auto second = Session::create(environment, test::model_path("tiny_diamond"), options);
  EXPECT_THAT(second, IsOk());
  const auto without = Session::create(environment, test::model_path("tiny_diamond"), [] {
    SessionOptions plain = test::with_dnnl();
    plain.add_config_entry("ep.share_ep_contexts", "1");
    return plain;
  }());
  EXPECT_EQ(without.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(Layers, ShowCallsInTheProfile) {
  SessionOptions options = traced();
  options.enable_profiling(folder() / "profile.json");
  auto session = Session::create(test::environment(), test::model_path("tiny_diamond"), options);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(session->end_profiling(), IsOk());
  EXPECT_THAT(test::read(folder() / "profile.json"),
              AllOf(HasSubstr("\"name\":\"get_capability\""), HasSubstr("\"cat\":\"abi\"")));
}

TEST_F(Layers, StandWhereTheSelectionSaysSo) {
  const std::filesystem::path selection = folder() / "selection.yaml";
  test::write(selection,
              "selection: 1\nproviders:\n  - provider: dnnl\n    layers: [trace]\nsession:\n"
              "  session.trace.file: " +
                  file().string() + "\n");
  SessionOptions options;
  ASSERT_THAT(options.load_selection(selection), IsOk());
  ASSERT_THAT(test::run_model(test::model_path("tiny_diamond"), options), IsOk());
  EXPECT_THAT(test::read(file()), AllOf(HasSubstr(" dnnl "), Not(HasSubstr(" cpu "))));
}

}  // namespace
}  // namespace ephost::layers_test
