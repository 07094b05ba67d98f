#include "host/runtime/frame/stop_signal.h"

#include <gtest/gtest.h>

namespace ephost::runtime::stop_signal_test {
namespace {

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
  EXPECT_EQ(body.reason(), "the deadline of the run passed");
  stop.begin_run({.cancelled = &cancelled, .deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(stop.reason(), "the run was cancelled");
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
}

}  // namespace
}  // namespace ephost::runtime::stop_signal_test
