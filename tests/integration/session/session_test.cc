#include <gtest/gtest.h>

#include <thread>

#include "host/onnx_io/export/export.h"
#include "host/onnx_io/import/import.h"
#include "tests/integration/session/sample.h"
#include "tests/support/host_api.h"
#include "tests/support/status_matchers.h"

namespace ephost::session_test {
namespace {

using test::environment;
using test::IsOk;
using test::model_path;
using test::with_dnnl;

TEST(Session, AppendsTheCpuProviderWhereItIsMissing) {
  const auto prepared = prepare_inside(environment(), model_path("tiny_cnn"), with_dnnl(),
                                       session::Stage::kPartitioned);
  ASSERT_THAT(prepared, IsOk());
  EXPECT_EQ(prepared->main.partitioning.providers,
            (std::vector<std::string>{"DnnlExecutionProvider", "CPUExecutionProvider"}));
}

TEST(Session, GivesTheSameOutputsWithAndWithoutDnnl) {
  for (const char* model : {"tiny_cnn", "tiny_mlp", "tiny_residual", "tiny_constants",
                            "tiny_external", "tiny_two_branches", "tiny_diamond"}) {
    SCOPED_TRACE(model);
    const auto plain = test::run_model(model_path(model), {});
    const auto fused = test::run_model(model_path(model), with_dnnl());
    ASSERT_THAT(plain, IsOk());
    ASSERT_THAT(fused, IsOk());
    test::expect_close(*fused, *plain);
  }
}

TEST(Session, DescribesInputsAndOutputs) {
  const auto session = Session::create(environment(), model_path("tiny_dynamic"));
  ASSERT_THAT(session, IsOk());
  const ValueDescription& input = session->inputs().front();
  EXPECT_EQ(input.element_type, ElementType::kFloat);
  ASSERT_TRUE(input.has_shape);
  EXPECT_EQ(input.shape[0], -1);
  EXPECT_FALSE(input.dim_names[0].empty());
}

TEST(Session, RunsAModelFromMemory) {
  const std::string bytes = test::read(model_path("tiny_cnn"));
  auto session = Session::create(environment(),
                                 ModelBytes{std::as_bytes(std::span(bytes.data(), bytes.size()))});
  ASSERT_THAT(session, IsOk());
  const auto outputs = session->run(test::random_inputs(*session));
  ASSERT_THAT(outputs, IsOk());
  test::expect_close(*outputs, *test::run_model(model_path("tiny_cnn"), {}));
}

TEST(Session, ReturnsTheOutputsThatAreAskedFor) {
  auto session = Session::create(environment(), model_path("tiny_cnn"));
  ASSERT_THAT(session, IsOk());
  const std::vector<std::string> names = {session->outputs().back().name};
  const auto outputs = session->run(test::random_inputs(*session), names);
  ASSERT_THAT(outputs, IsOk());
  EXPECT_EQ(outputs->size(), 1U);
}

TEST(Session, NamesInputsAndOutputsThatDoNotExist) {
  auto session = Session::create(environment(), model_path("tiny_cnn"));
  ASSERT_THAT(session, IsOk());
  const std::vector<NamedValue> inputs = {{"nonsense", Value()}};
  EXPECT_NE(session->run(inputs).status().message().find("the model has no input \"nonsense\""),
            std::string::npos);
  const std::vector<std::string> names = {"nonsense"};
  EXPECT_NE(session->run(test::random_inputs(*session), names)
                .status()
                .message()
                .find("the model has no output \"nonsense\""),
            std::string::npos);
}

TEST(Session, FollowsAnOpenBatch) {
  for (const SessionOptions& options : {SessionOptions(), with_dnnl()}) {
    auto session = Session::create(environment(), model_path("tiny_dynamic"), options);
    ASSERT_THAT(session, IsOk());
    for (const int64_t batch : {1, 3, 1, 2, 3}) {
      const auto outputs = session->run(test::random_inputs(*session, batch));
      ASSERT_THAT(outputs, IsOk());
      EXPECT_EQ(outputs->front().shape()[0], batch);
    }
  }
}

TEST(Session, RunsFromSeveralThreadsAtOnce) {
  for (const SessionOptions& options : {SessionOptions(), with_dnnl()}) {
    auto session = Session::create(environment(), model_path("tiny_residual"), options);
    ASSERT_THAT(session, IsOk());
    const std::vector<NamedValue> inputs = test::random_inputs(*session);
    const auto expected = session->run(inputs);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int round = 0; round < 10; ++round) {
          const auto outputs = session->run(inputs);
          ASSERT_THAT(outputs, IsOk());
          test::expect_close(*outputs, *expected);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Session, KeepsBoundOutputsFromRunToRun) {
  auto session = Session::create(environment(), model_path("tiny_cnn"), with_dnnl());
  ASSERT_THAT(session, IsOk());
  auto binding = session->create_binding();
  ASSERT_THAT(binding, IsOk());
  for (NamedValue& input : test::random_inputs(*session)) {
    ASSERT_THAT(binding->bind_input(input.name, std::move(input.value)), IsOk());
  }
  ASSERT_THAT(session->run(*binding), IsOk());
  const std::byte* const memory = binding->outputs()[0].bytes().data();
  ASSERT_THAT(session->run(*binding), IsOk());
  EXPECT_EQ(binding->outputs()[0].bytes().data(), memory);
}

TEST(Session, RefusesABindingOfAnotherSession) {
  auto one = Session::create(environment(), model_path("tiny_cnn"));
  auto two = Session::create(environment(), model_path("tiny_cnn"));
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(two, IsOk());
  auto binding = one->create_binding();
  EXPECT_EQ(two->run(*binding).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(binding->bind_input("nonsense", Value()).code(), StatusCode::kNotFound);
  EXPECT_EQ(binding->bind_input(one->inputs()[0].name, Value()).code(),
            StatusCode::kInvalidArgument);
}

TEST(Session, WorksWithoutMemoryPatternAndWithoutReuse) {
  const auto expected = test::run_model(model_path("tiny_residual"), {});
  for (const bool pattern : {false, true}) {
    for (const bool reuse : {false, true}) {
      SessionOptions options;
      options.enable_mem_pattern(pattern).enable_mem_reuse(reuse);
      const auto outputs = test::run_model(model_path("tiny_residual"), options);
      ASSERT_THAT(outputs, IsOk());
      test::expect_close(*outputs, *expected);
    }
  }
}

TEST(Session, NamesAProviderThatIsNotInstalled) {
  SessionOptions options;
  options.append_execution_provider("NoSuchExecutionProvider");
  const auto session = Session::create(environment(), model_path("tiny_cnn"), options);
  EXPECT_EQ(session.status().code(), StatusCode::kNotFound);
  EXPECT_NE(session.status().message().find("NoSuchExecutionProvider"), std::string::npos);
}

TEST(Session, NamesAnOptionThatAProviderDoesNotHave) {
  SessionOptions options;
  options.append_execution_provider("cpu", {{"num_thread", "2"}});
  const auto session = Session::create(environment(), model_path("tiny_cnn"), options);
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(session.status().message().find("num_threads"), std::string::npos);
}

TEST(Session, NamesAModelThatIsNotThere) {
  const auto session = Session::create(environment(), "nowhere/model.onnx");
  EXPECT_EQ(session.status().code(), StatusCode::kNoSuchFile);
}

TEST(Session, RefusesTheCpuProviderWhereItIsForbidden) {
  SessionOptions options;
  options.add_config_entry("session.disable_cpu_ep_fallback", "1");
  const auto session = Session::create(environment(), model_path("tiny_cnn"), options);
  EXPECT_EQ(session.status().code(), StatusCode::kFail);
  EXPECT_NE(session.status().message().find("session.disable_cpu_ep_fallback"), std::string::npos);
}

TEST(Session, NamesANodeThatNobodyTakes) {
  graph::Model model = *onnx_io::import_model(model_path("tiny_mlp"));
  model.graph.nodes[1].op_type = "Strange";
  model.graph.nodes[1].domain = "com.example";
  model.opset_imports["com.example"] = 1;
  const std::vector<std::byte> bytes = onnx_io::export_model(model)->model.to_bytes();
  const auto session = Session::create(environment(), ModelBytes{bytes}, with_dnnl());
  EXPECT_EQ(session.status().code(), StatusCode::kNotImplemented);
  EXPECT_NE(session.status().message().find("Strange"), std::string::npos);
  EXPECT_NE(session.status().message().find("CPUExecutionProvider"), std::string::npos);
}

TEST(Session, RefusesAValueThatAConfigurationEntryCannotHave) {
  SessionOptions options;
  options.add_config_entry("ep.context_enable", "yes");
  const auto session = Session::create(environment(), model_path("tiny_cnn"), options);
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(session.status().message().find("ep.context_enable"), std::string::npos);
}

}  // namespace
}  // namespace ephost::session_test
