// Which code a failure has in the end: what a provider returns goes through unchanged, in this
// process and from a worker, and what ends because it was cancelled, or because its time was up, is
// told apart from what failed.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::status_codes_test {
namespace {

using std::chrono::milliseconds;
using test::both_scripted;
using test::IsOk;
using test::scripted;
using ::testing::HasSubstr;

class StatusCodes : public ::testing::Test {
 protected:
  [[nodiscard]] Result<Session> create(const SessionOptions& options) const {
    return Session::create(test::scripted_environment(), model_, options);
  }
  Session created(const SessionOptions& options) const {
    Result<Session> session = create(options);
    EXPECT_THAT(session, IsOk());
    return std::move(session).value();
  }
  static Status run(Session& session, const RunOptions& options = {}) {
    return session.run(test::random_inputs(session), {}, options).status();
  }
  static RunOptions within(milliseconds time) { return RunOptions().set_timeout(time); }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, test::scripted_model());
};

class CodeOfAPlugin : public StatusCodes, public ::testing::WithParamInterface<StatusCode> {
 protected:
  static OptionList failing_at(const std::string& point) {
    return {{"fail", point},
            {"fail_code", std::to_string(static_cast<int32_t>(GetParam()))},
            {"keep_state", "true"}};
  }
  static bool is_cancelled() {
    return GetParam() == StatusCode::kCancelled || GetParam() == StatusCode::kDeadlineExceeded;
  }
};

TEST_P(CodeOfAPlugin, IsThatOfTheRun) {
  for (const char* const point : {"compute", "begin_run", "end_run"}) {
    Session session = created(scripted(failing_at(point)));
    for (int i = 0; i < 2; ++i) {
      const Status status = run(session);
      EXPECT_EQ(status.code(), GetParam()) << status.to_string();
      EXPECT_THAT(status.message(), HasSubstr("scripted failure at " + std::string(point)));
    }
  }
}

TEST_P(CodeOfAPlugin, IsThatOfTheCreation) {
  for (const char* const point : {"create", "create_state"}) {
    const Status status = create(scripted(failing_at(point))).status();
    EXPECT_EQ(status.code(), GetParam()) << status.to_string();
    EXPECT_THAT(status.message(), HasSubstr("scripted failure at " + std::string(point)));
  }
}

TEST_P(CodeOfAPlugin, IsThatOfAChangeOfOptions) {
  Session session = created(scripted(failing_at("set_options")));
  EXPECT_EQ(session.set_ep_dynamic_options({{"ep.scripted.offset", "3"}}).code(), GetParam());
}

TEST_P(CodeOfAPlugin, IsThatOfACompilation) {
  const Environment environment = test::scripted_environment();
  const ModelCompilationOptions compilation = {.input_model_path = model_};
  EXPECT_EQ(
      compile_model(environment, scripted(failing_at("context")), compilation).status().code(),
      GetParam());
  ASSERT_THAT(compile_model(environment, scripted(), compilation), IsOk());
  const Status restored = Session::create(environment, default_context_model_path(model_),
                                          scripted(failing_at("restore")))
                              .status();
  // What a provider says against a context is INVALID_GRAPH; that is nothing against it.
  EXPECT_EQ(restored.code(),
            GetParam() == StatusCode::kEngineError ? StatusCode::kInvalidGraph : GetParam())
      << restored.to_string();
}

TEST_P(CodeOfAPlugin, LetsOthersCompileUnlessItIsACancellation) {
  for (const char* const point : {"capability", "compile", "compile_second"}) {
    SCOPED_TRACE(point);
    const Result<Session> session = create(both_scripted(failing_at(point)));
    if (is_cancelled()) {
      EXPECT_EQ(session.status().code(), GetParam()) << session.status().to_string();
      continue;
    }
    ASSERT_THAT(session, IsOk());
    const std::vector<Fallback> fallbacks = session->fallbacks();
    // Without claims nothing falls back. What fails for two partitions works for each alone, but is
    // not tried again on a device that was lost.
    const bool falls_back =
        point == std::string("compile") ||
        (point == std::string("compile_second") && GetParam() == StatusCode::kDeviceLost);
    ASSERT_EQ(!fallbacks.empty(), falls_back);
    if (falls_back) {
      EXPECT_EQ(fallbacks.front().reason.code(), GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CodeOfAPlugin,
                         ::testing::Values(StatusCode::kEngineError, StatusCode::kOutOfMemory,
                                           StatusCode::kDeviceLost, StatusCode::kCancelled,
                                           StatusCode::kDeadlineExceeded),
                         [](const auto& code) {
                           return std::string(status_code_name(code.param));
                         });

TEST_F(StatusCodes, OfARunSayWhatEndedIt) {
  Session session = created(scripted({{"compute_milliseconds", "60000"}}));
  const Status late = run(session, within(milliseconds(100)));
  EXPECT_EQ(late.code(), StatusCode::kDeadlineExceeded) << late.to_string();
  std::atomic<bool> flag = false;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(milliseconds(100));
    flag = true;
  });
  const Status cancelled = run(session, {.cancelled = &flag});
  EXPECT_EQ(cancelled.code(), StatusCode::kCancelled) << cancelled.to_string();
}

TEST_F(StatusCodes, OfACreationSayWhatEndedIt) {
  SessionOptions options = scripted({{"compile_milliseconds", "60000"}});
  std::atomic<bool> flag = false;
  options.set_load_cancellation_flag(&flag);
  {
    std::jthread canceller([&] {
      std::this_thread::sleep_for(milliseconds(300));
      flag = true;
    });
    const Status cancelled = create(options).status();
    EXPECT_EQ(cancelled.code(), StatusCode::kCancelled) << cancelled.to_string();
  }
  flag = false;
  options.add_config_entry("session.load_timeout_seconds", "1");
  const Status late = create(options).status();
  EXPECT_EQ(late.code(), StatusCode::kDeadlineExceeded) << late.to_string();
}

TEST_F(StatusCodes, OfAModelWithNothingToComputeAreThoseOfOthers) {
  const std::filesystem::path model = test::save(folder_,
                                                 test::model_of(graph::testing::GraphBuilder()
                                                                    .input("x", test::row_type(2))
                                                                    .node("Identity", {"x"}, {"y"})
                                                                    .output("y")
                                                                    .build()),
                                                 "identity.onnx");
  auto session = Session::create(test::scripted_environment(), model, {});
  ASSERT_THAT(session, IsOk());
  const std::atomic<bool> flag = true;
  EXPECT_EQ(run(*session, {.cancelled = &flag}).code(), StatusCode::kCancelled);
  EXPECT_EQ(run(*session, within(milliseconds(0))).code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(run(*session), IsOk());
}

// A run that waits until another one has left the provider ends all the same.
TEST_F(StatusCodes, OfARunThatWaitsForItsTurnSayWhatEndedIt) {
  for (const int most : {1, 2}) {
    Session session = created(
        scripted({{"compute_milliseconds", "60000"}, {"max_concurrent", std::to_string(most)}}));
    std::atomic<bool> busy_flag = false;
    std::vector<std::jthread> busy;
    for (int i = 0; i < most; ++i) {
      busy.emplace_back([&] {
        EXPECT_EQ(run(session, {.cancelled = &busy_flag}).code(), StatusCode::kCancelled);
      });
    }
    std::this_thread::sleep_for(milliseconds(200));
    const auto start = std::chrono::steady_clock::now();
    const Status late = run(session, within(milliseconds(100)));
    EXPECT_EQ(late.code(), StatusCode::kDeadlineExceeded) << late.to_string();
    EXPECT_THAT(late.message(), HasSubstr("before step 0"));
    std::atomic<bool> flag = false;
    std::jthread canceller([&] {
      std::this_thread::sleep_for(milliseconds(100));
      flag = true;
    });
    const Status cancelled = run(session, {.cancelled = &flag});
    EXPECT_EQ(cancelled.code(), StatusCode::kCancelled) << cancelled.to_string();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    busy_flag = true;
  }
}

TEST_F(StatusCodes, OfStepsThatRunInParallelSayWhatEndedThem) {
  graph::testing::GraphBuilder builder;
  builder.input("x", test::row_type(2));
  for (const char* name : {"a", "b", "c", "d"}) builder.node("Neg", {"x"}, {name}).output(name);
  const std::filesystem::path model =
      test::save(folder_, test::model_of(builder.build()), "fan.onnx");
  SessionOptions options = scripted({{"claim", "every:1"}, {"compute_milliseconds", "60000"}});
  options.set_execution_mode(ExecutionMode::kParallel);
  auto session = Session::create(test::scripted_environment(), model, options);
  ASSERT_THAT(session, IsOk());
  const Status late = run(*session, within(milliseconds(100)));
  EXPECT_EQ(late.code(), StatusCode::kDeadlineExceeded) << late.to_string();
  std::atomic<bool> flag = false;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(milliseconds(100));
    flag = true;
  });
  const Status cancelled = run(*session, {.cancelled = &flag});
  EXPECT_EQ(cancelled.code(), StatusCode::kCancelled) << cancelled.to_string();
}

}  // namespace
}  // namespace ephost::status_codes_test
