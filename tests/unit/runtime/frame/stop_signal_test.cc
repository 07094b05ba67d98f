#include "host/runtime/frame/stop_signal.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace ephost::runtime::stop_signal_test {
namespace {

using test::IsOk;

TEST(StopSignal, FollowsTheCallersFlagDuringTheRun) {
  std::atomic<bool> cancelled{true};
  StopSignal stop;
  EXPECT_FALSE(stop.is_cancelled());
  stop.begin_run({.cancelled = &cancelled});
  EXPECT_TRUE(stop.is_cancelled());
  EXPECT_TRUE(stop.is_stopping());
  stop.end_run();
  EXPECT_FALSE(stop.is_stopping());
}

TEST(StopSignal, OfABodyFollowsTheEnclosingRun) {
  std::atomic<bool> cancelled{false};
  StopSignal enclosing;
  StopSignal body;
  enclosing.begin_run({.cancelled = &cancelled});
  body.begin_body(enclosing);
  EXPECT_FALSE(body.is_stopping());
  cancelled = true;
  EXPECT_TRUE(body.is_cancelled());
  EXPECT_TRUE(body.is_stopping());
}

TEST(StopSignal, FollowsTheDeadline) {
  StopSignal stop;
  EXPECT_FALSE(stop.may_be_cancelled());
  stop.begin_run({.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1)});
  EXPECT_TRUE(stop.may_be_cancelled());
  EXPECT_FALSE(stop.is_cancelled());
  const std::atomic<bool> cancelled{true};
  stop.begin_run({.id = 3, .deadline = std::chrono::steady_clock::now()});
  StopSignal body;
  body.begin_body(stop);
  EXPECT_TRUE(body.is_stopping());
  EXPECT_EQ(body.run_id(), 3U);
  EXPECT_EQ(body.why_stopping().to_string(), "DEADLINE_EXCEEDED: the deadline of the run passed");
  stop.begin_run({.cancelled = &cancelled, .deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(stop.why_stopping().to_string(), "CANCELLED: the run was cancelled");
}

// Fails at its only step.
class Failing final : public StepRunner {
 public:
  Status run_step(uint32_t, uint32_t) override { return Status(StatusCode::kFail, "failed"); }
};

TEST(StopSignal, StopsWhenAParallelStepFailsHereOrInTheEnclosingRun) {
  ThreadPool pool;
  ParallelExecutor executor(pool, 1);
  StopSignal enclosing;
  StopSignal body;
  enclosing.watch(executor);
  body.begin_body(enclosing);
  plan::StepDependencies one_step;
  one_step.waits_for = {0};
  one_step.first_successor = {0, 0};
  Failing failing;
  ASSERT_FALSE(executor.run(one_step, failing).ok());
  EXPECT_TRUE(enclosing.is_stopping());
  EXPECT_TRUE(body.is_stopping());
  EXPECT_FALSE(body.is_cancelled());
  EXPECT_EQ(body.why_stopping().code(), StatusCode::kFail);
}

TEST(StopSignal, MakesTheEndOfTheRunOfWhatItStopped) {
  std::atomic<bool> cancelled{false};
  StopSignal stop;
  stop.begin_run({.cancelled = &cancelled});
  const auto judged = [&](StatusCode code) { return stop.judge(Status(code, "no")).to_string(); };
  EXPECT_EQ(judged(StatusCode::kEpFail), "EP_FAIL: no");
  EXPECT_EQ(judged(StatusCode::kDeadlineExceeded), "DEADLINE_EXCEEDED: no");
  EXPECT_THAT(stop.why_stopping(), IsOk());
  cancelled = true;
  EXPECT_THAT(stop.judge(Status()), IsOk());
  EXPECT_EQ(judged(StatusCode::kFail), "CANCELLED: the run was cancelled: no");
  EXPECT_EQ(judged(StatusCode::kEpFail), "CANCELLED: the run was cancelled: no");
  EXPECT_EQ(judged(StatusCode::kCancelled), "CANCELLED: no");
  EXPECT_EQ(judged(StatusCode::kDeviceLost), "DEVICE_LOST: no");
  stop.begin_run({.deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(judged(StatusCode::kCancelled),
            "DEADLINE_EXCEEDED: the deadline of the run passed: no");
}

}  // namespace
}  // namespace ephost::runtime::stop_signal_test
