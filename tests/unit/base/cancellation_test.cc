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
  EXPECT_EQ(cancellation.check().code(), StatusCode::kCancelled);
  EXPECT_EQ(cancellation.check().message(), "cancelled by the application");
}

TEST(Cancellation, IsRequestedOnceTheTimeIsUp) {
  const Cancellation cancellation(nullptr, 1);
  while (!cancellation.is_requested()) std::this_thread::yield();
  EXPECT_EQ(cancellation.check().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(cancellation.check().message(), HasSubstr("more than 1 s"));
  EXPECT_THAT(cancellation.check().message(), HasSubstr("session.load_timeout_seconds"));
}

TEST(Cancellation, IsRequestedAtTheEarlierOfTwoDeadlines) {
  Cancellation cancellation(nullptr, 3600);
  cancellation.end_at(std::chrono::steady_clock::now());
  EXPECT_EQ(cancellation.check().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(cancellation.check().message(), "the deadline of the run passed");
}

TEST(Cancellation, IsNoOtherFailure) {
  for (const StatusCode code :
       {StatusCode::kCancelled, StatusCode::kDeadlineExceeded, StatusCode::kModelLoadCanceled}) {
    EXPECT_TRUE(is_cancellation(code)) << status_code_name(code);
    EXPECT_TRUE(is_circumstance(Status(code, ""))) << status_code_name(code);
  }
  for (const StatusCode code : {StatusCode::kOutOfMemory, StatusCode::kDeviceLost}) {
    EXPECT_FALSE(is_cancellation(code)) << status_code_name(code);
    EXPECT_TRUE(is_circumstance(Status(code, ""))) << status_code_name(code);
  }
  for (const StatusCode code : {StatusCode::kOk, StatusCode::kFail, StatusCode::kEpFail}) {
    EXPECT_FALSE(is_circumstance(Status(code, ""))) << status_code_name(code);
  }
}

}  // namespace
}  // namespace ephost::cancellation_test
