#include "host/worker/process/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker::limits_test {
namespace {

using test::IsOk;

std::string outcome(const Limits& limits, const std::string& request) {
  WorkerOptions options = test_options();
  options.limits = limits;
  auto worker = WorkerProcess::start(options);
  if (!worker.ok()) return worker.status().message();
  return failure_of(**worker, request, {.limit = std::chrono::seconds(30)});
}

TEST(LimitsTest, MemoryBeyondTheLimitIsRefusedToThePlugin) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers need more memory, and end the worker themselves";
  EXPECT_THAT(outcome({.memory = uint64_t{256} << 20}, "die memory"),
              ::testing::HasSubstr("SIGABRT in compute of TestProvider"));
}

TEST(LimitsTest, ProcessorTimeEndsTheWorkerWithTheLimitNamed) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers handle the signal later than it is repeated";
  EXPECT_THAT(outcome({.cpu_seconds = 1}, "die loop"),
              ::testing::AllOf(::testing::HasSubstr("died of SIGXCPU"),
                               ::testing::HasSubstr("more than 1 s of processor time")));
}

TEST(LimitsTest, WritingBeyondTheLimitOfMemoryFails) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer needs more memory";
  const test::TempDirectory folder;
  EXPECT_EQ(outcome({.memory = uint64_t{256} << 20}, "try grow " + (folder / "f").string()),
            "answered EFBIG");
}

TEST(LimitsTest, MemoryThatNobodyCountsIsRefused) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer needs more memory";
  const Limits limits = {.memory = uint64_t{256} << 20};
  for (const char* how : {"memfd", "sysv", "shared", "validated"}) {
    EXPECT_EQ(outcome(limits, std::string("try uncounted ") + how), "answered EPERM") << how;
  }
  EXPECT_EQ(outcome(limits, "try uncounted private"), "answered ok");
  EXPECT_EQ(outcome({}, "try uncounted memfd"), "answered ok");
}

// The worker has no memory of its own for them.
TEST(LimitsTest, OfMemoryDoNotConcernLongMessages) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer needs more memory";
  WorkerOptions options = test_options();
  options.limits.memory = uint64_t{256} << 20;
  auto worker = WorkerProcess::start(options);
  ASSERT_THAT(worker, IsOk());
  for (const size_t size : {size_t{70'000}, size_t{5} << 20, kMaxFromWorkerBytes}) {
    const auto answer = ask(**worker, "size " + std::to_string(size));
    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(*answer, std::string(size, 'x'));
  }
}

// Two of the 40 are the worker's own, the main thread and that of the call; ThreadSanitizer may
// have a third one.
const auto kReachesFortyThreads = ::testing::AnyOf(
    "answered 38 EAGAIN", kIsSanitized ? "answered 37 EAGAIN" : "answered 38 EAGAIN");

TEST(LimitsTest, ThreadsAreCounted) {
  EXPECT_EQ(outcome({.threads = 40}, "try threads 30"), "answered 30");
  EXPECT_THAT(outcome({.threads = 40}, "try threads 100"), kReachesFortyThreads);
  EXPECT_EQ(outcome({}, "try threads 100"), "answered 100");
}

TEST(LimitsTest, OfThreadsHoldInASandboxToo) {
  WorkerOptions options = test_options();
  options.sandbox = SandboxRules();
  options.limits.threads = 40;
  auto worker = WorkerProcess::start(options);
  ASSERT_THAT(worker, IsOk());
  EXPECT_THAT(failure_of(**worker, "try threads 100"), kReachesFortyThreads);
}

TEST(LimitsTest, OpenFilesAreCounted) {
  EXPECT_EQ(outcome({.open_files = 40}, "try files"), "answered EMFILE");
}

TEST(LimitsTest, AWorkerLeavesNoCoreFile) {
  auto worker = WorkerProcess::start(test_options());
  ASSERT_THAT(worker, IsOk());
  std::ifstream limits("/proc/" + std::to_string((*worker)->pid()) + "/limits");
  std::string line;
  while (std::getline(limits, line) && line.find("core file") == std::string::npos) continue;
  EXPECT_THAT(line, ::testing::ContainsRegex("size +1 +1 "));
}

TEST(LimitsTest, OfMemoryLeaveRoomForManyCallsAtATime) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer needs more memory";
  WorkerOptions options = test_options();
  options.limits.memory = uint64_t{256} << 20;
  auto worker = WorkerProcess::start(options);
  ASSERT_THAT(worker, IsOk());
  std::vector<ChannelLease> leases;
  for (int i = 0; i < 60; ++i) {
    auto channel = (*worker)->channel();
    ASSERT_THAT(channel, IsOk()) << i;
    leases.push_back(std::move(*channel));
  }
  for (const ChannelLease& channel : leases) EXPECT_EQ(*ask(*channel, "echo"), "echo");
}

// As many channels as there are descriptors, or room for the stacks of their threads.
TEST(LimitsTest, FailCallsAloneThatTheWorkerHasNoRoomFor) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer needs more memory";
  for (const Limits& limits : {Limits{.open_files = 24}, Limits{.memory = uint64_t{40} << 20}}) {
    WorkerOptions options = test_options();
    options.limits = limits;
    auto worker = WorkerProcess::start(options);
    ASSERT_THAT(worker, IsOk());
    std::vector<ChannelLease> leases;
    Status refused;
    while (refused.ok() && leases.size() < 100) {
      auto channel = (*worker)->channel();
      refused = channel.status();
      if (channel.ok()) leases.push_back(std::move(*channel));
    }
    EXPECT_EQ(refused.code(), StatusCode::kFail);
    EXPECT_NE(refused.message().find("for one more call at a time"), std::string::npos)
        << refused.to_string();
    ASSERT_GT(leases.size(), 2U);
    for (const ChannelLease& channel : leases) EXPECT_EQ(*ask(*channel, "echo"), "echo");
    leases.pop_back();
    EXPECT_EQ(*ask(**worker, "echo"), "echo");
  }
}

}  // namespace
}  // namespace ephost::worker::limits_test
