#include "host/worker/transport/staging.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace ephost::worker::staging_test {
namespace {

using test::IsOk;

TEST(StagingTest, TakesWhatFitsFromOneRegion) {
  Staging staging;
  const Result<SharedPlace> first = staging.take(100);
  const Result<SharedPlace> second = staging.take(200);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(first->region, second->region);
  EXPECT_EQ(first->offset, 0U);
  EXPECT_EQ(second->offset, 128U);
  EXPECT_EQ(first->region->access, SharedAccess::kReadWrite);
}

TEST(StagingTest, KeepsWhatWasTakenWhenItGrows) {
  Staging staging;
  const Result<SharedPlace> small = staging.take(100);
  const Result<SharedPlace> large = staging.take(size_t{1} << 20);
  ASSERT_THAT(small, IsOk());
  ASSERT_THAT(large, IsOk());
  EXPECT_NE(small->region, large->region);
  EXPECT_TRUE(SharedRegions::find(small->region->bytes).has_value());
  EXPECT_GE(large->region->bytes.size(), size_t{1} << 20);
}

TEST(StagingTest, HasOneRegionForACallThatNeedsTheSameAgain) {
  Staging staging;
  for (int call = 0; call < 3; ++call) {
    staging.reset();
    const Result<SharedPlace> first = staging.take(50'000);
    const Result<SharedPlace> second = staging.take(50'000);
    ASSERT_THAT(first, IsOk());
    ASSERT_THAT(second, IsOk());
    EXPECT_EQ(first->region == second->region, call > 0);
  }
}

// The worker maps a large region at a multiple of kLargeRegion.
TEST(StagingTest, AlignsWithinLargeRegions) {
  Staging staging;
  ASSERT_THAT(staging.take(100), IsOk());
  for (int i = 0; i < 2; ++i) {
    const Result<SharedPlace> aligned = staging.take(100, 8192);
    ASSERT_THAT(aligned, IsOk());
    EXPECT_EQ(aligned->offset % 8192, 0U);
    EXPECT_GE(aligned->region->bytes.size(), kLargeRegion);
  }
}

TEST(StagingTest, SaysWhenThereIsNotEnough) {
  Staging staging;
  const Result<SharedPlace> place = staging.take(SIZE_MAX / 2);
  EXPECT_EQ(place.status().code(), StatusCode::kFail);
  EXPECT_THAT(staging.take(100), IsOk());
}

}  // namespace
}  // namespace ephost::worker::staging_test
