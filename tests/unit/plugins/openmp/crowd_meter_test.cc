#include "plugins/openmp/crowd_meter.h"

#include <gtest/gtest.h>

namespace ephost::crowd_meter_test {
namespace {

using ephost_openmp::CrowdMeter;

constexpr uint64_t kMillisecond = 1000000;

// Runs of that many milliseconds in all, in pieces of ten, with switches at that rate a second.
void run(CrowdMeter& meter, int milliseconds, double rate) {
  double switches = 0;
  for (int i = 0; i < milliseconds; i += 10) {
    switches += rate / 100;
    const auto whole = static_cast<uint64_t>(switches);
    switches -= static_cast<double>(whole);
    meter.add(10 * kMillisecond, whole);
  }
}

TEST(CrowdMeter, TakesSwitchesOfAQuietMachineForNothing) {
  CrowdMeter small(2), large(64);
  run(small, 20000, 10);
  EXPECT_FALSE(small.is_crowded());
  run(large, 20000, 64 * 3);  // the system's own threads, on every processor
  EXPECT_FALSE(large.is_crowded());
  small.add(kMillisecond, 2);  // two at once
  run(small, 1000, 0);
  EXPECT_FALSE(small.is_crowded());
}

TEST(CrowdMeter, NoticesWithinATenthOfASecondThatThreadsLoseTheirProcessors) {
  CrowdMeter two(2), sixteen(16);
  run(two, 100, 150);
  EXPECT_TRUE(two.is_crowded());
  run(sixteen, 100, 160);  // a single busy thread of another program
  EXPECT_TRUE(sixteen.is_crowded());
}

TEST(CrowdMeter, NoticesItAtTheEndOfOneLongRun) {
  CrowdMeter meter(2);
  meter.add(1300 * kMillisecond, 400);
  EXPECT_TRUE(meter.is_crowded());
}

TEST(CrowdMeter, AddsUpShortRuns) {
  CrowdMeter meter(2);
  for (int i = 0; i < 100; ++i) meter.add(kMillisecond / 2, i % 5 == 0 ? 1 : 0);
  EXPECT_TRUE(meter.is_crowded());
}

TEST(CrowdMeter, StaysCrowdedWhileSleepingThreadsAreInterrupted) {
  CrowdMeter meter(2);
  run(meter, 100, 300);
  run(meter, 20000, 35);
  EXPECT_TRUE(meter.is_crowded());
}

TEST(CrowdMeter, LeavesAfterHalfASecondOfQuiet) {
  CrowdMeter meter(2);
  run(meter, 100, 300);
  run(meter, 400, 0);
  EXPECT_TRUE(meter.is_crowded());
  run(meter, 300, 0);
  EXPECT_FALSE(meter.is_crowded());
}

// The time that a machine is crowded at least, when it seems quiet as soon as threads sleep.
TEST(CrowdMeter, WaitsLongerEachTimeThatItLeftTooEarly) {
  CrowdMeter meter(2);
  int slow = 0, runs = 0;  // runs on a machine taken for quiet
  for (; runs < 6000; ++runs) {
    slow += meter.is_crowded() ? 0 : 1;
    meter.add(50 * kMillisecond, meter.is_crowded() ? 0 : 20);
  }
  EXPECT_GT(slow, 5);
  EXPECT_LT(slow, 40);
  run(meter, 40000, 0);
  ASSERT_FALSE(meter.is_crowded());
  run(meter, 300000, 0);  // long quiet: it was another crowd
  run(meter, 100, 300);
  ASSERT_TRUE(meter.is_crowded());
  run(meter, 700, 0);
  EXPECT_FALSE(meter.is_crowded());
}

}  // namespace
}  // namespace ephost::crowd_meter_test
