#include "host/runtime/parallel_executor.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/status_matchers.h"

namespace ephost::runtime::parallel_executor_test {
namespace {

using test::IsOk;

// Dependencies from pairs of steps, the second of which waits for the first.
plan::StepDependencies dependencies(uint32_t steps,
                                    std::vector<std::pair<uint32_t, uint32_t>> edges) {
  plan::StepDependencies made;
  made.waits_for.resize(steps);
  for (uint32_t step = 0; step < steps; ++step) {
    made.first_successor.push_back(static_cast<uint32_t>(made.successors.size()));
    for (const auto& [from, to] : edges) {
      if (from != step) continue;
      made.successors.push_back(to);
      ++made.waits_for[to];
    }
  }
  made.first_successor.push_back(static_cast<uint32_t>(made.successors.size()));
  return made;
}

class Recorder final : public StepRunner {
 public:
  explicit Recorder(uint32_t steps) : runs_(steps) {}

  Status run_step(uint32_t step, uint32_t lane) override {
    if (lanes_in_use_[lane].exchange(true)) ++overlaps_;
    ++runs_[step];
    Status status = body_ ? body_(step) : Status();
    lanes_in_use_[lane] = false;
    return status;
  }
  void set_body(std::function<Status(uint32_t)> body) { body_ = std::move(body); }
  [[nodiscard]] int runs(uint32_t step) const { return runs_[step]; }
  [[nodiscard]] int overlaps() const { return overlaps_; }

 private:
  std::function<Status(uint32_t)> body_;
  std::vector<std::atomic<int>> runs_;
  std::atomic<bool> lanes_in_use_[8] = {};
  std::atomic<int> overlaps_{0};
};

TEST(ParallelExecutor, RunsStepsWhoseDependenciesAreDone) {
  ThreadPool pool;
  ParallelExecutor executor(pool, 4);
  const uint32_t width = 50;
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  for (uint32_t step = 1; step <= width; ++step) edges.push_back({0, step});
  for (uint32_t step = 1; step <= width; ++step) edges.push_back({step, width + 1});
  const plan::StepDependencies diamond = dependencies(width + 2, edges);
  for (int round = 1; round <= 200; ++round) {
    Recorder recorder(width + 2);
    std::atomic<int> done{0};
    recorder.set_body([&](uint32_t step) {
      const int before = done++;
      if (step == 0) {
        EXPECT_EQ(before, 0);
      } else if (step == width + 1) {
        EXPECT_EQ(before, static_cast<int>(width + 1));
      }
      return Status::ok_status();
    });
    ASSERT_THAT(executor.run(diamond, recorder), IsOk());
    for (uint32_t step = 0; step < width + 2; ++step) ASSERT_EQ(recorder.runs(step), 1);
    ASSERT_EQ(recorder.overlaps(), 0);
  }
}

// Each of them waits for the other to begin.
TEST(ParallelExecutor, RunsIndependentStepsAtTheSameTime) {
  ThreadPool pool;
  ParallelExecutor executor(pool, 2);
  Recorder recorder(3);
  std::atomic<int> begun{0};
  recorder.set_body([&](uint32_t step) {
    if (step == 0) return Status::ok_status();
    ++begun;
    while (begun < 2) std::this_thread::yield();
    return Status::ok_status();
  });
  EXPECT_THAT(executor.run(dependencies(3, {{0, 1}, {0, 2}}), recorder), IsOk());
}

TEST(ParallelExecutor, RunsEverythingOnOneThread) {
  ThreadPool pool;
  ParallelExecutor executor(pool, 1);
  Recorder recorder(4);
  std::vector<uint32_t> order;
  recorder.set_body([&](uint32_t step) {
    order.push_back(step);
    return Status::ok_status();
  });
  EXPECT_THAT(executor.run(dependencies(4, {{0, 3}, {1, 3}}), recorder), IsOk());
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 3, 2}));
}

TEST(ParallelExecutor, StartsNothingAfterAFailureAndRunsAgain) {
  ThreadPool pool;
  ParallelExecutor executor(pool, 3);
  const plan::StepDependencies line = dependencies(4, {{0, 1}, {1, 2}, {2, 3}});
  for (int round = 0; round < 100; ++round) {
    Recorder failing(4);
    failing.set_body([&](uint32_t step) {
      EXPECT_FALSE(executor.is_stopping());
      return step == 1 ? Status(StatusCode::kEngineError, "it broke") : Status();
    });
    const Status status = executor.run(line, failing);
    ASSERT_EQ(status.code(), StatusCode::kEngineError);
    ASSERT_EQ(status.message(), "it broke");
    ASSERT_EQ(failing.runs(2) + failing.runs(3), 0);
    Recorder working(4);
    ASSERT_THAT(executor.run(line, working), IsOk());
    ASSERT_EQ(working.runs(3), 1);
  }
}

TEST(ParallelExecutor, TellsStepsThatAnotherOneFailed) {
  ThreadPool pool;
  ParallelExecutor executor(pool, 2);
  Recorder recorder(2);
  std::atomic<bool> waits{false};
  recorder.set_body([&](uint32_t step) {
    if (step == 0) {
      waits = true;
      while (!executor.is_stopping()) std::this_thread::yield();
      return Status(StatusCode::kFail, "ended early");
    }
    while (!waits) std::this_thread::yield();
    return Status(StatusCode::kEngineError, "it broke");
  });
  EXPECT_EQ(executor.run(dependencies(2, {}), recorder).message(), "it broke");
}

TEST(ParallelExecutor, RunsNoSteps) {
  ThreadPool pool;
  ParallelExecutor executor(pool, 2);
  Recorder recorder(0);
  EXPECT_THAT(executor.run(dependencies(0, {}), recorder), IsOk());
}

}  // namespace
}  // namespace ephost::runtime::parallel_executor_test
