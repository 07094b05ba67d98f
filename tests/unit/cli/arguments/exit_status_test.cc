#include "host/cli/arguments/exit_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <string>

#include "host/cli/arguments/interrupt.h"

namespace ephost::cli::exit_status_test {
namespace {

int status_of(StatusCode code) { return exit_status_of(Status(code, "it failed")); }

TEST(ExitStatus, TellsWhatKindOfThingWentWrong) {
  EXPECT_EQ(status_of(StatusCode::kFail), 1);
  EXPECT_EQ(status_of(StatusCode::kInvalidArgument), 2);
  EXPECT_EQ(status_of(StatusCode::kNoSuchFile), 4);
  EXPECT_EQ(status_of(StatusCode::kNoModel), 4);
  EXPECT_EQ(status_of(StatusCode::kInvalidProtobuf), 4);
  EXPECT_EQ(status_of(StatusCode::kInvalidGraph), 4);
  EXPECT_EQ(status_of(StatusCode::kNotImplemented), 4);
  EXPECT_EQ(status_of(StatusCode::kModelRequiresCompilation), 4);
  EXPECT_EQ(status_of(StatusCode::kEpFail), 5);
  EXPECT_EQ(status_of(StatusCode::kNotFound), 5);
  EXPECT_EQ(status_of(StatusCode::kEngineError), 6);
  EXPECT_EQ(status_of(StatusCode::kRuntimeException), 70);
  EXPECT_EQ(status_of(StatusCode::kModelLoaded), 70);
  EXPECT_EQ(status_of(static_cast<StatusCode>(999)), 70);
  EXPECT_EQ(status_of(StatusCode::kOutOfMemory), 8);
  EXPECT_EQ(status_of(StatusCode::kDeviceLost), 9);
  EXPECT_EQ(status_of(StatusCode::kCancelled), 10);
  EXPECT_EQ(status_of(StatusCode::kModelLoadCanceled), 10);
  EXPECT_EQ(status_of(StatusCode::kDeadlineExceeded), 124);
}

TEST(ExitStatus, IsNeverSuccessForAFailure) {
  for (int code = 1; code < 1010; ++code) EXPECT_NE(status_of(static_cast<StatusCode>(code)), 0);
}

TEST(ExitStatus, IsThatOfTheSignalThatEndedTheWork) {
  {
    const Interrupt interrupt;
    EXPECT_EQ(status_of(StatusCode::kCancelled), 10);
    std::raise(SIGINT);
    EXPECT_EQ(status_of(StatusCode::kCancelled), 130);
    EXPECT_EQ(status_of(StatusCode::kEpFail), 130);
  }
  {
    const Interrupt interrupt;
    std::raise(SIGTERM);
    EXPECT_EQ(status_of(StatusCode::kCancelled), 143);
  }
  const Interrupt none;
  EXPECT_EQ(status_of(StatusCode::kFail), 1);
}

TEST(ExitStatus, IsDescribed) {
  std::set<std::string> described;
  for (const ExitStatus& exit : exit_statuses()) {
    EXPECT_TRUE(described.insert(exit.status).second) << exit.status;
    EXPECT_FALSE(exit.meaning.empty());
  }
  EXPECT_THAT(described, ::testing::ElementsAre("0", "1", "10", "124", "128+N", "2", "4", "5", "6",
                                                "7", "70", "8", "9"));
}

}  // namespace
}  // namespace ephost::cli::exit_status_test
