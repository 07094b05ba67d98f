// Nodes whose provider fails to compile or to load them.
#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::fallback_test {
namespace {

using test::both_scripted;
using test::IsOk;
using test::scripted;
using test::scripted_environment;
using test::TempDirectory;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FallbackTest : public ::testing::Test {
 protected:
  Result<Session> create(const SessionOptions& options) {
    return Session::create(scripted_environment(), model_, options);
  }
  // The short name of each node's owner.
  std::vector<std::string> owners(const SessionOptions& options) {
    const auto prepared =
        prepare_inside(scripted_environment(), model_, options, session::Stage::kCompiled);
    EXPECT_THAT(prepared, IsOk());
    std::vector<std::string> names;
    if (!prepared.ok()) return names;
    for (const uint32_t owner : prepared->main.partitioning.owner) {
      names.push_back(prepared->providers[owner]->short_name());
    }
    return names;
  }

  TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, test::scripted_model());
  std::vector<Value> expected_ = test::expected_outputs(model_);
};

TEST_F(FallbackTest, TheNextProviderGetsWhatOneFailsToCompile) {
  const SessionOptions options = both_scripted({{"fail", "compile"}});
  EXPECT_THAT(owners(options),
              ElementsAre("scripted_two", "scripted_two", "cpu", "scripted_two", "scripted_two"));
  auto session = create(options);
  ASSERT_THAT(session, IsOk());
  const std::vector<Fallback> fallbacks = session->fallbacks();
  ASSERT_EQ(fallbacks.size(), 2U);
  EXPECT_EQ(fallbacks[1].provider, "ScriptedExecutionProvider");
  EXPECT_EQ(fallbacks[1].partition, "scripted_1");
  EXPECT_EQ(fallbacks[1].nodes, 2U);
  EXPECT_EQ(fallbacks[1].reason.code(), StatusCode::kEpFail);
  EXPECT_THAT(fallbacks[1].reason.message(), HasSubstr("scripted failure at compile"));
  test::expect_runs(std::move(session), expected_);
}

TEST_F(FallbackTest, TheCpuProviderIsTheLastOne) {
  const SessionOptions options = both_scripted({{"fail", "compile"}}, {{"fail", "compile"}});
  EXPECT_THAT(owners(options), ElementsAre("cpu", "cpu", "cpu", "cpu", "cpu"));
  auto session = create(options);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->fallbacks().size(), 4U);
  test::expect_runs(std::move(session), expected_);
}

TEST_F(FallbackTest, WarnsWithProviderPartitionAndReason) {
  const test::LogCapture log;
  ASSERT_THAT(create(scripted({{"cannot_compile", "Mul"}})), IsOk());
  EXPECT_THAT(
      log.text(),
      AllOf(
          HasSubstr("ScriptedExecutionProvider failed compiling"),
          HasSubstr("the script cannot compile Mul"),
          HasSubstr("the nodes of partition \"scripted_1\" went from ScriptedExecutionProvider")));
}

TEST_F(FallbackTest, FindsThePartitionToBlameAndKeepsTheOthersAsTheyAre) {
  SessionOptions options = both_scripted({{"cannot_compile", "Add"}});
  size_t attempts = 0;
  options.set_progress_func([&](std::string_view provider, double, std::string_view) {
    attempts += provider == "ScriptedExecutionProvider" ? 1 : 0;
  });
  EXPECT_THAT(owners(options),
              ElementsAre("scripted_two", "scripted_two", "cpu", "scripted", "scripted"));
  // Both together, which ends at the first one, then each alone. What was compiled is not compiled
  // again after the second partitioning.
  EXPECT_EQ(attempts, 3U);
  const auto session = create(options);
  ASSERT_THAT(session, IsOk());
  ASSERT_EQ(session->fallbacks().size(), 1U);
  EXPECT_EQ(session->fallbacks()[0].partition, "scripted_0");
}

TEST_F(FallbackTest, TakesPartitionsThatOnlyFailTogether) {
  const SessionOptions options = both_scripted({{"fail", "compile_second"}});
  EXPECT_THAT(owners(options), ElementsAre("scripted", "scripted", "cpu", "scripted", "scripted"));
  auto session = create(options);
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(session->fallbacks().empty());
  test::expect_runs(std::move(session), expected_);
}

TEST_F(FallbackTest, TheRefusedClaimSaysWhy) {
  const auto prepared =
      prepare_inside(scripted_environment(), model_, scripted({{"cannot_compile", "Mul"}}),
                     session::Stage::kCompiled);
  ASSERT_THAT(prepared, IsOk());
  const auto& decisions = prepared->main.partitioning.decisions;
  ASSERT_GE(decisions.size(), 2U);
  EXPECT_FALSE(decisions[1].accepted);
  EXPECT_THAT(decisions[1].reason, HasSubstr("the script cannot compile Mul"));
  EXPECT_EQ(prepared->main.partitioning.partitions[0].name, "scripted_0");
}

TEST_F(FallbackTest, KernelsFallBackToo) {
  auto session = create(scripted({{"claim", "kernels:Relu"}, {"fail", "create_kernel"}}));
  ASSERT_THAT(session, IsOk());
  ASSERT_EQ(session->fallbacks().size(), 1U);
  EXPECT_EQ(session->fallbacks()[0].partition, "");
  test::expect_runs(std::move(session), expected_);
}

TEST_F(FallbackTest, AProviderThatBreaksTheRulesIsReplacedToo) {
  for (const char* rule : {"null_computation", "null_table", "short_table"}) {
    SCOPED_TRACE(rule);
    test::expect_runs(create(scripted({{"misbehave", rule}})), expected_);
  }
}

TEST_F(FallbackTest, TheStrictEntryMakesItAnError) {
  SessionOptions options = both_scripted({{"fail", "compile"}});
  options.add_config_entry("session.disable_ep_fallback", "1");
  const auto session = create(options);
  EXPECT_EQ(session.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(session.status().message(), HasSubstr("scripted failure at compile"));
}

TEST_F(FallbackTest, TheFailureIsSaidWhereNodesMustNotGoToTheCpuProvider) {
  SessionOptions options = scripted({{"fail", "compile"}});
  options.add_config_entry("session.disable_cpu_ep_fallback", "1");
  graph::Model model = test::model_of(graph::testing::GraphBuilder()
                                          .input("x", test::row_type(4))
                                          .node("Relu", {"x"}, {"a"})
                                          .node("Neg", {"a"}, {"y"})
                                          .output("y")
                                          .build());
  const auto session =
      Session::create(scripted_environment(), test::save(folder_, model, "two.onnx"), options);
  EXPECT_EQ(session.status().code(), StatusCode::kFail);
  EXPECT_THAT(session.status().message(), AllOf(HasSubstr("disable_cpu_ep_fallback"),
                                                HasSubstr("scripted failure at compile")));
}

TEST_F(FallbackTest, ANodeThatNobodyElseTakesEndsInTheReason) {
  graph::Model model = test::model_of(
      graph::testing::GraphBuilder()
          .input("x", graph::testing::tensor_type(ElementType::kFloat, graph::Shape{1, 4, 2, 2}))
          .node("DepthToSpace", {"x"}, {"y"})
          .attribute("blocksize", int64_t{2})
          .attribute("mode", std::string("XYZ"))
          .output("y")
          .build());
  const auto session =
      Session::create(scripted_environment(), test::save(folder_, model, "odd.onnx"));
  EXPECT_THAT(session.status().message(),
              AllOf(HasSubstr("XYZ"), HasSubstr("looking for another provider of DepthToSpace")));
}

TEST_F(FallbackTest, ACancelledCompilationDoesNotFallBack) {
  std::atomic<bool> cancelled = false;
  std::vector<std::string> asked;
  SessionOptions options = both_scripted({{"compile_milliseconds", "60000"}});
  options.set_load_cancellation_flag(&cancelled);
  options.set_progress_func([&](std::string_view provider, double, std::string_view) {
    if (provider == "ephost") return;
    cancelled = true;
    asked.emplace_back(provider);
  });
  EXPECT_EQ(create(options).status().code(), StatusCode::kCancelled);
  EXPECT_THAT(asked, ::testing::Each("ScriptedExecutionProvider"));
}

TEST_F(FallbackTest, ContextModelsHoldWhatWasCompiledInTheEnd) {
  ModelCompilationOptions compilation{.input_model_path = model_};
  const auto report = compile_model(scripted_environment(),
                                    both_scripted({{"cannot_compile", "Add"}}), compilation);
  ASSERT_THAT(report, IsOk());
  ASSERT_EQ(report->fallbacks.size(), 1U);
  ASSERT_EQ(report->partitions.size(), 2U);
  EXPECT_EQ(report->partitions[0].provider, "ScriptedExecutionProvider");
  EXPECT_EQ(report->partitions[0].name, "scripted_1");
  EXPECT_EQ(report->partitions[1].provider, "ScriptedTwoExecutionProvider");
  EXPECT_EQ(report->remaining_nodes, 1U);
  test::expect_runs(Session::create(scripted_environment(), report->output_path, both_scripted({})),
                    expected_);
}

TEST_F(FallbackTest, ACachedPartitionThatFailsToLoadIsAnError) {
  const auto report =
      compile_model(scripted_environment(), scripted(), {.input_model_path = model_});
  ASSERT_THAT(report, IsOk());
  const auto session = Session::create(scripted_environment(), report->output_path,
                                       both_scripted({{"fail", "restore"}}));
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(session.status().message(), AllOf(HasSubstr("EPContext node \"scripted_0\""),
                                                HasSubstr("scripted failure at restore")));
}

// The second provider's manifest declares that it reads the first one's contexts.
TEST_F(FallbackTest, TheNextProviderOfTheSourceLoadsWhatTheFirstCannot) {
  const auto report =
      compile_model(scripted_environment(), scripted(), {.input_model_path = model_});
  ASSERT_THAT(report, IsOk());
  test::copy_fixture("scripted", folder_ / "plugins");
  const auto manifest = folder_ / "plugins/scripted_two.yaml";
  std::string text = test::read(manifest);
  const std::string sources = "context_sources: [";
  text.insert(text.find(sources) + sources.size(), "ScriptedExecutionProvider, ");
  test::write(manifest, text);
  auto session = Session::create(scripted_environment(folder_ / "plugins"), report->output_path,
                                 both_scripted({{"fail", "restore"}}));
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->fallbacks().size(), 2U);
  test::expect_runs(std::move(session), expected_);
}

}  // namespace
}  // namespace ephost::fallback_test
