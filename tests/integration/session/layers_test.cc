// Sessions with layers between the host and its providers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/integration/session/sample.h"
#include "tests/support/temp_directory.h"

namespace ephost {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

 private:
  test::TempDirectory folder_;
};

TEST_F(Layers, LeaveResultsAsTheyAre) {
  for (const char* model : {"tiny_diamond", "tiny_residual"}) {
    const auto plain = test::run_model(test::model_path(model), test::with_dnnl());
    const auto layered = test::run_model(test::model_path(model), traced());
    ASSERT_TRUE(plain.ok()) << plain.status().to_string();
    ASSERT_TRUE(layered.ok()) << layered.status().to_string();
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
      const auto validated = test::run_model(test::model_path(model), options);
      ASSERT_TRUE(plain.ok()) << plain.status().to_string();
      ASSERT_TRUE(validated.ok()) << validated.status().to_string();
      test::expect_close(*validated, *plain);
    }
  }
}

TEST_F(Layers, MayBeOverOneProviderOnly) {
  SessionOptions options = test::with_dnnl();
  options.add_config_entry("session.layers.dnnl", "trace");
  options.add_config_entry("session.trace.file", file().string());
  ASSERT_TRUE(test::run_model(test::model_path("tiny_diamond"), options).ok());
  EXPECT_THAT(test::read(file()), AllOf(HasSubstr(" dnnl "), Not(HasSubstr(" cpu "))));
}

TEST_F(Layers, OfUnknownNamesAreRefused) {
  SessionOptions options;
  options.add_config_entry("session.layers", "tracing");
  const auto session =
      Session::create(test::environment(), test::model_path("tiny_diamond"), options);
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(session.status().message(),
              AllOf(HasSubstr("\"tracing\""), HasSubstr("the layers are: trace, validate")));
}

TEST_F(Layers, PassContextsThrough) {
  SessionOptions options = traced();
  const std::filesystem::path context = folder() / "model_ctx.onnx";
  options.add_config_entry("ep.context_enable", "1");
  options.add_config_entry("ep.context_file_path", context.string());
  const auto compiled = test::run_model(test::model_path("tiny_diamond"), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  const auto restored = test::run_model(context, traced());
  ASSERT_TRUE(restored.ok()) << restored.status().to_string();
  test::expect_close(*restored, *compiled);
  EXPECT_THAT(test::read(file()), HasSubstr("\"context\":{\"bytes\":"));
}

TEST_F(Layers, LetSessionsOfAGroupShareTheirProvider) {
  const auto environment = test::environment();
  SessionOptions options = traced();
  options.add_config_entry("ep.share_ep_contexts", "1");
  const auto first = Session::create(environment, test::model_path("tiny_diamond"), options);
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  const auto second = Session::create(environment, test::model_path("tiny_diamond"), options);
  EXPECT_TRUE(second.ok()) << second.status().to_string();
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
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  ASSERT_TRUE(session->end_profiling().ok());
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
  ASSERT_TRUE(options.load_selection(selection).ok());
  ASSERT_TRUE(test::run_model(test::model_path("tiny_diamond"), options).ok());
  EXPECT_THAT(test::read(file()), AllOf(HasSubstr(" dnnl "), Not(HasSubstr(" cpu "))));
}

}  // namespace
}  // namespace ephost
