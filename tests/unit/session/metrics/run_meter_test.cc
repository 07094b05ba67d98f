#include "host/session/metrics/run_meter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

namespace ephost::session::run_meter_test {
namespace {

using std::chrono::nanoseconds;

uint64_t runs_of(const RunMeter::Counts& counts, RunOutcome outcome) {
  const auto& buckets = counts.runs[static_cast<size_t>(outcome)].counts;
  return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
}

TEST(RunMeter, CountsByOutcome) {
  RunMeter meter;
  meter.begin();
  EXPECT_EQ(meter.read().in_progress, 1U);
  meter.end(RunOutcome::kSucceeded, nanoseconds(500), {.inputs = 8, .outputs = 4});
  meter.begin();
  meter.end(RunOutcome::kFailed, nanoseconds(7), {});
  meter.begin();
  meter.begin();
  meter.end(RunOutcome::kCancelled, nanoseconds(-3), {});
  const RunMeter::Counts counts = meter.read();
  EXPECT_EQ(counts.in_progress, 1U);
  EXPECT_EQ(runs_of(counts, RunOutcome::kSucceeded), 1U);
  EXPECT_EQ(runs_of(counts, RunOutcome::kFailed), 1U);
  EXPECT_EQ(runs_of(counts, RunOutcome::kCancelled), 1U);
  EXPECT_EQ(counts.runs[0].sum, nanoseconds(500));
  EXPECT_EQ(counts.runs[0].counts[2], 1U);
  EXPECT_EQ(counts.runs[2].sum, nanoseconds(0));
  EXPECT_EQ(counts.bytes.inputs, 8U);
  EXPECT_EQ(counts.bytes.outputs, 4U);
}

// More threads than stripes, and one that reads: nothing is lost, and no run ends before it began.
TEST(RunMeter, LosesNothingBetweenThreads) {
  constexpr uint64_t kThreads = 12;
  constexpr uint64_t kRuns = 5000;
  RunMeter meter;
  std::atomic<bool> is_done{false};
  std::jthread reader([&] {
    while (!is_done) EXPECT_LE(meter.read().in_progress, kThreads);
  });
  {
    std::vector<std::jthread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (uint64_t run = 0; run < kRuns; ++run) {
          meter.begin();
          meter.end(RunOutcome::kSucceeded, nanoseconds(10), {.inputs = 1, .outputs = 2});
        }
      });
    }
  }
  is_done = true;
  reader.join();
  const RunMeter::Counts counts = meter.read();
  EXPECT_EQ(counts.in_progress, 0U);
  EXPECT_EQ(runs_of(counts, RunOutcome::kSucceeded), kThreads * kRuns);
  EXPECT_EQ(counts.runs[0].sum, nanoseconds(10 * kThreads * kRuns));
  EXPECT_EQ(counts.bytes.inputs, kThreads * kRuns);
  EXPECT_EQ(counts.bytes.outputs, 2 * kThreads * kRuns);
}

}  // namespace
}  // namespace ephost::session::run_meter_test
