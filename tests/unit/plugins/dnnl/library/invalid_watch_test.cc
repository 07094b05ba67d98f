#include "plugins/dnnl/library/invalid_watch.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cfenv>
#include <limits>

#include "plugins/dnnl/library/threads.h"

namespace ephost_dnnl::invalid_watch_test {
namespace {

constexpr int kThreads = 4;

volatile float nan = std::numeric_limits<float>::quiet_NaN(), zero = 0;
volatile bool is_less = false;

// Compares NaN with a number on one thread of the team.
void compare_nan_on(int thread, int team = kThreads) {
#pragma omp parallel num_threads(team)
  {
    if (omp_get_thread_num() == thread) is_less = nan < zero;
  }
}

TEST(InvalidWatch, SeesAComparisonOfNanOnEveryThread) {
  const ThreadScope scope(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    const InvalidWatch watch;
    compare_nan_on(thread);
    EXPECT_TRUE(watch.has_seen_any()) << thread;
  }
}

TEST(InvalidWatch, SeesNothingWhereNumbersAreCompared) {
  const ThreadScope scope(kThreads);
  const InvalidWatch watch;
  compare_nan_on(kThreads);
  EXPECT_FALSE(watch.has_seen_any());
}

TEST(InvalidWatch, ForgetsWhatWasBefore) {
  const ThreadScope scope(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) compare_nan_on(thread);
  EXPECT_FALSE(InvalidWatch().has_seen_any());
}

TEST(InvalidWatch, DoesNotTrustATeamWhoseThreadsHaveBeenReplaced) {
  const ThreadScope scope(kThreads);
  const InvalidWatch watch;
  compare_nan_on(kThreads - 1);
  compare_nan_on(kThreads, 2);  // ends the threads that are not needed, and their flags
  EXPECT_TRUE(watch.has_seen_any());
}

TEST(InvalidWatch, LeavesTheFlagOfItsCallerAsItWouldBe) {
  std::feraiseexcept(FE_INVALID);
  EXPECT_FALSE(InvalidWatch().has_seen_any());
  EXPECT_NE(std::fetestexcept(FE_INVALID), 0);
  std::feclearexcept(FE_INVALID);
  EXPECT_FALSE(InvalidWatch().has_seen_any());
  EXPECT_EQ(std::fetestexcept(FE_INVALID), 0);
}

}  // namespace
}  // namespace ephost_dnnl::invalid_watch_test
