#include "host/worker/process/output_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker::output_lines_test {
namespace {

using std::chrono::seconds;
using test::IsOk;
using ::testing::HasSubstr;
using Clock = OutputLines::Clock;

const Clock::time_point kStart = Clock::time_point() + std::chrono::hours(1);

TEST(OutputLinesTest, EachLineHasTheNameOfThePlugin) {
  OutputLines lines("acme");
  EXPECT_EQ(lines.add("one\ntwo\nthr", kStart),
            "[worker of \"acme\"] one\n[worker of \"acme\"] two\n");
  EXPECT_EQ(lines.add("ee\n", kStart), "[worker of \"acme\"] three\n");
  EXPECT_EQ(lines.add("no end", kStart), "");
  EXPECT_EQ(lines.finish(), "[worker of \"acme\"] no end\n");
  EXPECT_EQ(lines.finish(), "");
}

TEST(OutputLinesTest, NothingControlsTheTerminal) {
  OutputLines lines("acme");
  const std::string shown = lines.add("\x1b[2Ja\rb\x07\n", kStart);
  for (const char c : shown.substr(0, shown.size() - 1)) EXPECT_GE(c, ' ');
}

TEST(OutputLinesTest, LongLinesAreCut) {
  OutputLines lines("acme");
  const std::string shown = lines.add(std::string(100'000, 'x') + "\nnext\n", kStart);
  EXPECT_LT(shown.size(), OutputLines::kMostInLine + 100);
  EXPECT_THAT(shown, HasSubstr("] next\n"));
  EXPECT_THAT(lines.finish(), HasSubstr("98000 more bytes of its output were dropped"));
}

TEST(OutputLinesTest, WhatIsTooMuchIsDroppedAndCounted) {
  OutputLines lines("acme");
  size_t shown = 0;
  for (int i = 0; i < 100'000; ++i) shown += lines.add("a line\n", kStart).size();
  EXPECT_LE(shown, OutputLines::kMostInPeriod);
  EXPECT_GT(shown, OutputLines::kMostInPeriod / 2);
  const std::string later = lines.add("later\n", kStart + OutputLines::kPeriod);
  EXPECT_THAT(later, HasSubstr("more bytes of its output were dropped\n"));
  EXPECT_THAT(later, HasSubstr("] later\n"));
}

TEST(WorkerOutputTest, IsAPipeThatTheHostShows) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  {
    auto worker = WorkerProcess::start(test_options());
    ASSERT_THAT(worker, IsOk());
    EXPECT_EQ(failure_of(**worker, "try spoil"), "answered a pipe");
    EXPECT_EQ(failure_of(**worker, "try print {\"forged\":1}"), "answered ok");
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "[worker of \"acme\"] {\"forged\":1}\n[worker of \"acme\"] error\n");
}

TEST(WorkerOutputTest, OfAFloodDoesNotKeepTheHostBusyForEver) {
  testing::internal::CaptureStderr();
  {
    auto worker = WorkerProcess::start(test_options());
    ASSERT_THAT(worker, IsOk());
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(failure_of(**worker, "try print " + std::string(1000, 'x')), "answered ok");
    }
  }
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_LT(shown.size(), 2 * OutputLines::kMostInPeriod);
  EXPECT_THAT(shown, HasSubstr("more bytes of its output were dropped"));
}

}  // namespace
}  // namespace ephost::worker::output_lines_test
