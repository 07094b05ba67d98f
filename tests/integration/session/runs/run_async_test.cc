// Runs in the background: run_async, its callback, and the end of the session.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/integration/session/flow_models.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::run_async_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;
using test::scripted;
using ::testing::HasSubstr;

// y = relu(-x) for one number, on the scripted provider.
graph::Model negation() {
  return test::model_of(GraphBuilder()
                            .input("x", test::row_type(1))
                            .node("Neg", {"x"}, {"a"})
                            .node("Relu", {"a"}, {"y"})
                            .output("a")
                            .output("y")
                            .build());
}

std::vector<NamedValue> input(float number) {
  return {{"x", *Value::of<float>({1}, std::vector<float>{number})}};
}

// What a callback got.
struct RunOutcome {
  Status status;
  std::vector<Value> outputs;
};

// Collects what callbacks report; `wait` returns once `count` have.
class RunOutcomes {
 public:
  RunAsyncCallback callback() {
    return [this](Status status, std::vector<Value> outputs) {
      const std::lock_guard lock(mutex_);
      outcomes_.push_back({std::move(status), std::move(outputs)});
      changed_.notify_all();
    };
  }
  std::vector<RunOutcome> wait(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return outcomes_.size() >= count; });
    return outcomes_;
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return outcomes_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RunOutcome> outcomes_;
};

class RunAsyncTest : public ::testing::Test {
 protected:
  Session create(const SessionOptions& options = {}) {
    auto session = Session::create(test::scripted_environment(), model_, options);
    EXPECT_THAT(session, IsOk());
    return std::move(session).value();
  }
  static SessionOptions slow(const char* milliseconds) {
    return scripted({{"compute_milliseconds", milliseconds}});
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, negation());
  RunOutcomes outcomes_;
};

TEST_F(RunAsyncTest, GivesTheOutputsToTheCallbackOnAnotherThread) {
  std::promise<std::thread::id> thread;
  std::promise<std::vector<Value>> result;
  Session session = create();
  const Status started =
      session.run_async(input(-10), {}, [&](const Status& status, std::vector<Value> outputs) {
        EXPECT_THAT(status, IsOk());
        thread.set_value(std::this_thread::get_id());
        result.set_value(std::move(outputs));
      });
  ASSERT_THAT(started, IsOk());
  const std::vector<Value> outputs = result.get_future().get();
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[1].elements<float>()[0], 10);
  EXPECT_NE(thread.get_future().get(), std::this_thread::get_id());
}

TEST_F(RunAsyncTest, GivesTheOutputsThatAreNamed) {
  Session session = create();
  const std::vector<std::string> names = {"y", "a", "y"};
  ASSERT_THAT(session.run_async(input(10), names, outcomes_.callback()), IsOk());
  const RunOutcome outcome = outcomes_.wait(1)[0];
  ASSERT_EQ(outcome.outputs.size(), 3U);
  EXPECT_EQ(outcome.outputs[0].elements<float>()[0], 0);
  EXPECT_EQ(outcome.outputs[1].elements<float>()[0], -10);
  EXPECT_EQ(outcome.outputs[2].elements<float>()[0], 0);
}

TEST_F(RunAsyncTest, GivesTheFailureOfTheRunToTheCallback) {
  Session session = create();
  ASSERT_THAT(session.run_async({}, {}, outcomes_.callback()), IsOk());
  const std::vector<std::string> names = {"z"};
  ASSERT_THAT(session.run_async(input(1), names, outcomes_.callback()), IsOk());
  std::string messages;
  for (const RunOutcome& outcome : outcomes_.wait(2)) {
    EXPECT_EQ(outcome.status.code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(outcome.outputs.empty());
    messages += outcome.status.message();
  }
  EXPECT_THAT(messages, HasSubstr("input \"x\" is missing"));
  EXPECT_THAT(messages, HasSubstr("the model has no output \"z\""));
}

TEST_F(RunAsyncTest, RefusesAnEmptyCallback) {
  Session session = create();
  EXPECT_EQ(session.run_async(input(1), {}, {}).code(), StatusCode::kInvalidArgument);
}

TEST_F(RunAsyncTest, CallsEachOfManyCallbacksOnce) {
  Session session = create();
  constexpr int kRuns = 200;
  std::vector<std::atomic<int>> calls(kRuns);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < kRuns; i += 2) {
        const Status started =
            session.run_async(input(static_cast<float>(-i)), {},
                              [&calls, i](const Status& status, const std::vector<Value>& outputs) {
                                ASSERT_THAT(status, IsOk());
                                EXPECT_EQ(outputs[1].elements<float>()[0], static_cast<float>(i));
                                ++calls[static_cast<size_t>(i)];
                              });
        EXPECT_THAT(started, IsOk());
        const bool runs_too = i % 10 == 0;
        if (runs_too) {
          EXPECT_THAT(session.run(input(1)), IsOk());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  { const Session ended = std::move(session); }
  for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
}

TEST_F(RunAsyncTest, KeepsCopiesOfTheInputsUntilTheCallback) {
  Session session = create(slow("20"));
  {
    std::vector<NamedValue> inputs = input(-3);
    std::vector<std::string> names = {"y"};
    RunOptions options;
    options.tag = "copied";
    ASSERT_THAT(session.run_async(inputs, names, outcomes_.callback(), options), IsOk());
  }
  EXPECT_EQ(outcomes_.wait(1)[0].outputs[0].elements<float>()[0], 3);
}

TEST_F(RunAsyncTest, UsesTheThreadsOfTheEnvironmentInEachRun) {
  const auto path = test::write_model(folder_ / "flow.onnx", test::nested_flow());
  SessionOptions options;
  options.set_execution_mode(ExecutionMode::kParallel).set_inter_op_num_threads(4);
  options.set_intra_op_num_threads(4);
  auto session = Session::create(test::scripted_environment(), path, options);
  ASSERT_THAT(session, IsOk());
  const std::vector<float> x = {0.5F, -1.25F};
  constexpr size_t kRuns = 30;
  for (size_t i = 0; i < kRuns; ++i) {
    ASSERT_THAT(session->run_async(test::nested_flow_inputs(9, true, x), {}, outcomes_.callback()),
                IsOk());
  }
  for (const RunOutcome& outcome : outcomes_.wait(kRuns)) {
    ASSERT_THAT(outcome.status, IsOk());
    test::expect_nested_flow(outcome.outputs, 9, true, x);
  }
}

TEST_F(RunAsyncTest, WorksWithOneThreadForEachStep) {
  SessionOptions options;
  options.set_intra_op_num_threads(1);
  Session session = create(options);
  ASSERT_THAT(session.run_async(input(-1), {}, outcomes_.callback()), IsOk());
  EXPECT_EQ(outcomes_.wait(1)[0].outputs[1].elements<float>()[0], 1);
}

TEST_F(RunAsyncTest, EndsRunsThatAreCancelled) {
  Session session = create(slow("60000"));
  std::atomic<bool> cancelled{false};
  // More than there are threads, so that some are cancelled before they begin.
  constexpr size_t kRuns = 8;
  for (size_t i = 0; i < kRuns; ++i) {
    ASSERT_THAT(session.run_async(input(1), {}, outcomes_.callback(), {.cancelled = &cancelled}),
                IsOk());
  }
  cancelled = true;
  for (const RunOutcome& outcome : outcomes_.wait(kRuns)) {
    EXPECT_EQ(outcome.status.code(), StatusCode::kCancelled);
    EXPECT_THAT(outcome.status.message(), HasSubstr("cancelled"));
  }
}

TEST_F(RunAsyncTest, CountsTheDeadlineFromTheStart) {
  Session session = create(slow("60000"));
  RunOptions options;
  options.set_timeout(std::chrono::milliseconds(30));
  constexpr size_t kRuns = 8;
  for (size_t i = 0; i < kRuns; ++i) {
    ASSERT_THAT(session.run_async(input(1), {}, outcomes_.callback(), options), IsOk());
  }
  for (const RunOutcome& outcome : outcomes_.wait(kRuns)) {
    EXPECT_EQ(outcome.status.code(), StatusCode::kDeadlineExceeded);
    EXPECT_THAT(outcome.status.message(), HasSubstr("the deadline of the run passed"));
  }
}

TEST_F(RunAsyncTest, TheEndOfTheSessionWaitsForItsRuns) {
  constexpr size_t kRuns = 6;
  {
    Session session = create(slow("10"));
    for (size_t i = 0; i < kRuns; ++i) {
      ASSERT_THAT(session.run_async(input(-2), {}, outcomes_.callback()), IsOk());
    }
  }
  EXPECT_EQ(outcomes_.count(), kRuns);
  for (const RunOutcome& outcome : outcomes_.wait(kRuns)) EXPECT_THAT(outcome.status, IsOk());
}

// The session has the last reference to its environment, with the thread of the callback.
TEST_F(RunAsyncTest, ACallbackMayDestroyTheSession) {
  std::optional<Session> session = create(slow("5"));
  std::promise<void> ready;
  auto others = std::make_shared<std::promise<size_t>>();
  auto count = others->get_future();
  const auto begun = ready.get_future().share();
  ASSERT_THAT(
      session->run_async(input(-2), {},
                         [&, others, begun](const Status& status, const std::vector<Value>&) {
                           EXPECT_THAT(status, IsOk());
                           begun.wait();
                           session.reset();
                           others->set_value(outcomes_.count());
                         }),
      IsOk());
  constexpr size_t kRuns = 4;
  for (size_t i = 0; i < kRuns; ++i) {
    ASSERT_THAT(session->run_async(input(-2), {}, outcomes_.callback()), IsOk());
  }
  ready.set_value();
  EXPECT_EQ(count.get(), kRuns);
}

TEST_F(RunAsyncTest, ACallbackMayStartTheNextRun) {
  std::promise<float> last;
  Session session = create();
  RunAsyncCallback next = [&](const Status& status, const std::vector<Value>& outputs) {
    ASSERT_THAT(status, IsOk());
    const float number = outputs[1].elements<float>()[0];
    if (number >= 20) return last.set_value(number);
    EXPECT_THAT(session.run_async(input(-number - 1), {}, next), IsOk());
  };
  ASSERT_THAT(session.run_async(input(-1), {}, next), IsOk());
  EXPECT_EQ(last.get_future().get(), 20);
}

TEST_F(RunAsyncTest, SurvivesACallbackThatThrows) {
  const test::LogCapture log;
  {
    Session session = create();
    ASSERT_THAT(session.run_async(input(1), {},
                                  [](const Status&, const std::vector<Value>&) {
                                    throw std::runtime_error("oops");
                                  }),
                IsOk());
    ASSERT_THAT(
        session.run_async(input(1), {}, [](const Status&, const std::vector<Value>&) { throw 1; }),
        IsOk());
  }
  EXPECT_THAT(log.text(), HasSubstr("the callback of run_async threw an exception (oops)"));
}

}  // namespace
}  // namespace ephost::run_async_test
