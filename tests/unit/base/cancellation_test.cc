#include "host/base/cancellation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/status_matchers.h"

namespace ephost::cancellation_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

TEST(Cancellation, IsNotRequestedByItself) {
  EXPECT_FALSE(Cancellation().is_requested());
  EXPECT_THAT(Cancellation().check(), IsOk());
  EXPECT_FALSE(Cancellation(nullptr).is_requested());
  EXPECT_FALSE(Cancellation(nullptr, 3600).is_requested());
}

TEST(Cancellation, IsRequestedByTheFlagOfTheApplication) {
  std::atomic<bool> flag = false;
  const Cancellation cancellation(&flag);
  EXPECT_THAT(cancellation.check(), IsOk());
  flag = true;
  EXPECT_TRUE(cancellation.is_requested());
  EXPECT_EQ(cancellation.check().code(), StatusCode::kModelLoadCanceled);
  EXPECT_EQ(cancellation.check().message(), "cancelled by the application");
}

TEST(Cancellation, IsRequestedOnceTheTimeIsUp) {
  const Cancellation cancellation(nullptr, 1);
  while (!cancellation.is_requested()) std::this_thread::yield();
  EXPECT_EQ(cancellation.check().code(), StatusCode::kModelLoadCanceled);
  EXPECT_THAT(cancellation.check().message(), HasSubstr("more than 1 s"));
  EXPECT_THAT(cancellation.check().message(), HasSubstr("session.load_timeout_seconds"));
}

}  // namespace
}  // namespace ephost::cancellation_test
