#include "host/session/metrics/duration_histogram.h"

#include <gtest/gtest.h>

#include <limits>

namespace ephost::session::duration_histogram_test {
namespace {

using std::chrono::nanoseconds;

TEST(DurationHistogram, DoublesItsBounds) {
  EXPECT_DOUBLE_EQ(bound_seconds(0), 125e-9);
  EXPECT_DOUBLE_EQ(bound_seconds(3), 1e-6);
  EXPECT_DOUBLE_EQ(bound_seconds(kBoundCount - 1), 2147.483648);
  for (size_t i = 1; i < kBoundCount; ++i) {
    EXPECT_DOUBLE_EQ(bound_seconds(i), 2 * bound_seconds(i - 1));
  }
}

TEST(DurationHistogram, IncludesEachBoundInItsBucket) {
  for (size_t i = 0; i < kBoundCount; ++i) {
    const nanoseconds bound(int64_t{125} << i);
    EXPECT_EQ(bucket_of(bound), i) << i;
    EXPECT_EQ(bucket_of(bound + nanoseconds(1)), i + 1) << i;
    EXPECT_LE(bucket_of(bound - nanoseconds(1)), i) << i;
  }
}

TEST(DurationHistogram, TakesAnyDuration) {
  EXPECT_EQ(bucket_of(nanoseconds(0)), 0U);
  EXPECT_EQ(bucket_of(nanoseconds(-1)), 0U);
  EXPECT_EQ(bucket_of(nanoseconds::min()), 0U);
  EXPECT_EQ(bucket_of(nanoseconds::max()), kBoundCount);
}

TEST(DurationHistogram, AddsUp) {
  DurationHistogram histogram;
  histogram.observe(nanoseconds(100));
  histogram.observe(nanoseconds(120));
  histogram.observe(nanoseconds(1000));
  EXPECT_EQ(histogram.counts[0], 2U);
  EXPECT_EQ(histogram.counts[3], 1U);
  EXPECT_EQ(histogram.sum, nanoseconds(1220));
}

}  // namespace
}  // namespace ephost::session::duration_histogram_test
