#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "host/worker/process/crash_report.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker::crash_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string death(const std::string& how, WorkerOptions options = test_options(),
                  const CallOptions& call = {}) {
  auto worker = WorkerProcess::start(std::move(options));
  if (!worker.ok()) return worker.status().message();
  return failure_of(**worker, "die " + how, call);
}

constexpr std::string_view kCall = " in compute of TestProvider for Conv \"conv1\"";

TEST(CrashTest, TheReportNamesSignalCallAndFunctions) {
  EXPECT_THAT(death("abort"),
              AllOf(StartsWith("the worker of \"acme\" died of SIGABRT"), HasSubstr(kCall),
                    HasSubstr("innermost functions: "), HasSubstr("abort of libc.so.6+0x")));
  // A sanitizer ends the worker before the signal does.
  if (!kIsSanitized) {
    EXPECT_THAT(death("null"), AllOf(HasSubstr("SIGSEGV at address 0x0"), HasSubstr(kCall)));
  }
  EXPECT_THAT(death("segv"), AllOf(HasSubstr("SIGSEGV"), HasSubstr(kCall)));
}

TEST(CrashTest, AStackOverflowIsReportedFromAStackOfItsOwn) {
  EXPECT_THAT(death("overflow"), AllOf(HasSubstr("SIGSEGV at address"), HasSubstr(kCall)));
}

TEST(CrashTest, ACrashInAThreadOfThePluginNamesTheCallDuringWhichItHappened) {
  EXPECT_THAT(death("thread"),
              HasSubstr("SIGABRT in a thread of the plugin, during compute of TestProvider"));
}

TEST(CrashTest, OtherEndsAreToldApart) {
  EXPECT_EQ(death("exit"), "the worker of \"acme\" exited with status 5");
  EXPECT_EQ(death("_exit"), "the worker of \"acme\" exited with status 6");
  EXPECT_EQ(death("kill"), "the worker of \"acme\" died of SIGKILL");
  EXPECT_EQ(death("term"), "the worker of \"acme\" died of SIGTERM");
}

TEST(CrashTest, AHangEndsAtTheDeadline) {
  const CallOptions call = {.limit = std::chrono::milliseconds(300),
                            .limit_name = "session.isolation.run_seconds"};
  EXPECT_EQ(death("hang", test_options(), call),
            "the worker of \"acme\" was ended: it took longer than 0.3 s, the limit of "
            "session.isolation.run_seconds");
}

TEST(CrashTest, AWorkerThatClosesEverythingIsEndedAtTheDeadline) {
  const CallOptions call = {.limit = std::chrono::milliseconds(300)};
  EXPECT_THAT(death("close", test_options(), call), StartsWith("the worker of \"acme\" was ended"));
}

TEST(CrashTest, WhatTheWorkerStartedGoesWithIt) {
  const auto worker = WorkerProcess::start(test_options());
  ASSERT_THAT(worker, IsOk());
  const pid_t group = (*worker)->pid();
  EXPECT_THAT(failure_of(**worker, "die orphan"), HasSubstr("SIGABRT"));
  for (int i = 0; i < 500 && ::kill(-group, 0) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(::kill(-group, 0), 0);
}

TEST(CrashTest, AllPendingCallsAndAllLaterOnesFailWithTheSameReason) {
  const auto worker = WorkerProcess::start(test_options());
  ASSERT_THAT(worker, IsOk());
  std::vector<std::string> failures(4);
  std::vector<std::thread> threads;
  for (std::string& failure : failures) {
    threads.emplace_back([&] { failure = failure_of(**worker, "die hang"); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::string first = failure_of(**worker, "die exit");
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, "the worker of \"acme\" exited with status 5");
  for (const std::string& failure : failures) EXPECT_EQ(failure, first);
  EXPECT_EQ(failure_of(**worker, "echo"), first);
  EXPECT_EQ((*worker)->ending()->value, 5);
}

TEST(CrashTest, OtherWorkersGoOn) {
  const auto other = WorkerProcess::start(test_options());
  ASSERT_THAT(other, IsOk());
  EXPECT_THAT(death("abort"), HasSubstr("SIGABRT"));
  EXPECT_EQ(*ask(**other, "echo"), "echo");
}

TEST(CrashReportTest, WhatTheWorkerLeftIsBoundedAndMadePrintable) {
  const auto page = std::make_unique<CrashPage>();
  page->text.fill('\x1b');
  page->size.store(UINT32_MAX);
  const std::string report = read_report(*page);
  EXPECT_EQ(report.substr(0, 8), "\\x1b\\x1b");
  EXPECT_EQ(report.size(), 8000U);
}

}  // namespace
}  // namespace ephost::worker::crash_test
