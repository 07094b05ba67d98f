// How many calls of `compute` overlap, as the scripted provider counts them. It also fails a call
// that is one too many.
#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "tests/integration/session/flow_models.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::call_limit_session_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;

constexpr uint32_t kUnlimited = UINT32_MAX;

// Four steps that do not depend on each other.
graph::Model fan() {
  GraphBuilder builder;
  builder.input("x", test::row_type(4));
  for (const char* name : {"a", "b", "c", "d"}) builder.node("Neg", {"x"}, {name}).output(name);
  return test::model_of(builder.build());
}

SessionOptions limited(uint32_t max_concurrent) {
  return test::scripted({{"claim", "every:1"},
                         {"compute_milliseconds", "20"},
                         {"log_runs", "true"},
                         {"max_concurrent", std::to_string(max_concurrent)}});
}

// What the provider says about itself at its end.
int most_calls(const std::string& log) {
  const size_t at = log.find("at most ");
  return at == std::string::npos ? -1 : std::stoi(log.substr(at + 8));
}

class CallLimitSession : public ::testing::TestWithParam<uint32_t> {
 protected:
  CallLimitSession() { set_log_level(LoggingLevel::kInfo); }
  ~CallLimitSession() override { set_log_level(LoggingLevel::kWarning); }

  // With four threads or steps that want to run at the same time.
  [[nodiscard]] static int expected() { return static_cast<int>(std::min(GetParam(), 4U)); }
  static void run_in_threads(std::vector<Session>& sessions, int threads_of_each) {
    std::vector<std::thread> threads;
    for (Session& session : sessions) {
      for (int t = 0; t < threads_of_each; ++t) {
        threads.emplace_back([&session] {
          for (int round = 0; round < 3; ++round) {
            const auto outputs = test::run(session);
            EXPECT_THAT(outputs, IsOk());
          }
        });
      }
    }
    for (std::thread& thread : threads) thread.join();
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, fan());
  test::LogCapture log_;
};

TEST_P(CallLimitSession, HoldsForStepsInParallel) {
  {
    SessionOptions options = limited(GetParam());
    options.set_execution_mode(ExecutionMode::kParallel).set_inter_op_num_threads(4);
    auto session = Session::create(test::scripted_environment(), model_, options);
    ASSERT_THAT(session, IsOk());
    for (int round = 0; round < 3; ++round) EXPECT_THAT(test::run(*session), IsOk());
  }
  EXPECT_EQ(most_calls(log_.text()), expected());
}

TEST_P(CallLimitSession, HoldsForRunsInParallel) {
  {
    std::vector<Session> sessions;
    auto session = Session::create(test::scripted_environment(), model_, limited(GetParam()));
    ASSERT_THAT(session, IsOk());
    sessions.push_back(std::move(session).value());
    run_in_threads(sessions, 4);
  }
  EXPECT_EQ(most_calls(log_.text()), expected());
}

TEST_P(CallLimitSession, HoldsForAllSessionsOfAGroup) {
  {
    const Environment environment = test::scripted_environment();
    std::vector<Session> sessions;
    for (int i = 0; i < 2; ++i) {
      SessionOptions options = limited(GetParam());
      options.add_config_entry("ep.share_ep_contexts", "1");
      auto session = Session::create(environment, model_, options);
      ASSERT_THAT(session, IsOk());
      sessions.push_back(std::move(session).value());
    }
    run_in_threads(sessions, 2);
  }
  EXPECT_EQ(most_calls(log_.text()), expected());
}

// Steps of bodies wait for their turn like others, and no call waits for them meanwhile. The
// provider splits its loops over the threads of the host.
TEST_P(CallLimitSession, LetsBodiesAndLoopsOfStepsGoOn) {
  const auto path = test::write_model(folder_ / "flow.onnx", test::nested_flow());
  SessionOptions options =
      test::scripted({{"claim", "kernels:*"}, {"max_concurrent", std::to_string(GetParam())}});
  options.set_execution_mode(ExecutionMode::kParallel).set_inter_op_num_threads(4);
  options.set_intra_op_num_threads(4);
  auto session = Session::create(test::scripted_environment(), path, options);
  ASSERT_THAT(session, IsOk());
  const std::vector<float> x = {0.5F, -1.25F};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (const int64_t count : {3, 0, 9}) {
        const auto outputs = session->run(test::nested_flow_inputs(count, true, x));
        ASSERT_THAT(outputs, IsOk());
        test::expect_nested_flow(*outputs, count, true, x);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Limits, CallLimitSession, ::testing::Values(1U, 2U, 3U, kUnlimited),
                         [](const auto& limit) {
                           return limit.param == kUnlimited ? std::string("none")
                                                            : std::to_string(limit.param);
                         });

}  // namespace
}  // namespace ephost::call_limit_session_test
