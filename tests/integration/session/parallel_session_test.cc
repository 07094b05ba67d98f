// Sessions whose steps run in parallel, with the tiny models and with control flow, and their
// profiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/integration/session/flow_models.h"
#include "tests/integration/session/sample.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::parallel_session_test {
namespace {

using test::environment;
using test::IsOk;
using test::model_path;

SessionOptions in_mode(ExecutionMode mode) {
  SessionOptions options;
  return options.set_execution_mode(mode).set_inter_op_num_threads(4).set_intra_op_num_threads(1);
}

void expect_same_bits(const std::vector<Value>& a, const std::vector<Value>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_THAT(a[i].shape(), ::testing::ElementsAreArray(b[i].shape()));
    EXPECT_TRUE(std::ranges::equal(a[i].bytes(), b[i].bytes())) << "output " << i;
  }
}

TEST(ParallelSession, GivesTheSameBitsAsASequentialOne) {
  size_t parallel = 0;
  for (const char* model : {"tiny_cnn", "tiny_mlp", "tiny_residual", "tiny_two_branches",
                            "tiny_diamond", "tiny_dynamic"}) {
    SCOPED_TRACE(model);
    auto one =
        Session::create(environment(), model_path(model), in_mode(ExecutionMode::kSequential));
    auto many =
        Session::create(environment(), model_path(model), in_mode(ExecutionMode::kParallel));
    ASSERT_TRUE(one.ok() && many.ok());
    EXPECT_FALSE(inside(*one).model()->base->program->is_parallel());
    parallel += inside(*many).model()->base->program->is_parallel() ? 1 : 0;
    for (const int64_t extent : {2, 2, 3, 2}) {
      const auto inputs = test::random_inputs(*many, extent);
      const auto expected = one->run(inputs);
      const auto outputs = many->run(inputs);
      ASSERT_THAT(outputs, IsOk());
      expect_same_bits(*outputs, *expected);
    }
  }
  EXPECT_GE(parallel, 3U);
}

TEST(ParallelSession, RunsControlFlow) {
  const test::TempDirectory folder;
  auto session =
      Session::create(environment(), test::write_model(folder / "model.onnx", test::nested_flow()),
                      in_mode(ExecutionMode::kParallel));
  ASSERT_THAT(session, IsOk());
  const std::vector<float> x = {0.5F, -1.25F};
  for (const int64_t count : {3, 0, 1, 17}) {
    const auto outputs = session->run(test::nested_flow_inputs(count, true, x));
    ASSERT_THAT(outputs, IsOk());
    test::expect_nested_flow(*outputs, count, true, x);
  }
}

TEST(ParallelSession, RunsFromSeveralThreadsAtOnce) {
  auto session = Session::create(environment(), model_path("tiny_two_branches"),
                                 in_mode(ExecutionMode::kParallel));
  ASSERT_THAT(session, IsOk());
  const std::vector<NamedValue> inputs = test::random_inputs(*session);
  const auto expected = session->run(inputs);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) expect_same_bits(*session->run(inputs), *expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ParallelSession, EndsARunThatIsCancelled) {
  auto session = Session::create(environment(), model_path("tiny_two_branches"),
                                 in_mode(ExecutionMode::kParallel));
  ASSERT_THAT(session, IsOk());
  const std::vector<NamedValue> inputs = test::random_inputs(*session);
  const std::atomic<bool> cancelled{true};
  const auto outputs = session->run(inputs, {}, {.cancelled = &cancelled});
  EXPECT_EQ(outputs.status().code(), StatusCode::kCancelled);
  const RunOptions late = {.deadline = std::chrono::steady_clock::now()};
  EXPECT_EQ(session->run(inputs, {}, late).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(session->run(inputs), IsOk());
}

TEST(SessionProfile, IsWrittenOnceWhenItEnds) {
  const test::TempDirectory folder;
  SessionOptions options;
  options.enable_profiling(folder / "trace.json");
  auto session = Session::create(environment(), model_path("tiny_mlp"), options);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(session->run(test::random_inputs(*session)), IsOk());
  EXPECT_FALSE(std::filesystem::exists(folder / "trace.json"));
  const auto written = session->end_profiling();
  ASSERT_THAT(written, IsOk());
  EXPECT_EQ(*written, folder / "trace.json");
  const std::string trace = test::read(*written);
  EXPECT_NE(trace.find("\"cat\":\"run\""), std::string::npos);
  EXPECT_EQ(session->end_profiling().status().code(), StatusCode::kInvalidArgument);
  ASSERT_THAT(session->run(test::random_inputs(*session)), IsOk());
  EXPECT_EQ(inside(*session).prepared().profiler->to_json(), trace);
}

TEST(SessionProfile, IsWrittenWithTheEndOfTheSession) {
  const test::TempDirectory folder;
  SessionOptions options;
  options.enable_profiling(folder / "trace.json");
  static_cast<void>(Session::create(environment(), model_path("tiny_mlp"), options));
  EXPECT_TRUE(std::filesystem::exists(folder / "trace.json"));
}

TEST(SessionProfile, IsRefusedWhereNoneWasAskedFor) {
  auto session = Session::create(environment(), model_path("tiny_mlp"));
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->end_profiling().status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ephost::parallel_session_test
