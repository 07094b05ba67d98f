#include "host/base/processes/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "host/base/processes/forks.h"
#include "host/base/processes/pipe.h"
#include "host/base/processes/spawn.h"
#include "host/base/processes/waiting.h"
#include "tests/support/status_matchers.h"

namespace ephost::process_test {
namespace {

using std::chrono::milliseconds;
using test::IsOk;
using ::testing::Contains;

ProcessId start(const std::string& command, std::vector<SpawnPlan::Passed> passed = {}) {
  const Result<ProcessId> child = spawn(
      {.program = "/bin/sh", .arguments = {"sh", "-c", command}, .descriptors = std::move(passed)});
  EXPECT_THAT(child, IsOk());
  return child.ok() ? *child : 0;
}

TEST(Process, SaysHowAChildEnded) {
  const ProcessEnd failed = wait_for_end(start("exit 3"));
  EXPECT_EQ(failed.status, 3);
  EXPECT_EQ(failed.signal, 0);
  EXPECT_FALSE(failed.is_success());
  EXPECT_TRUE(wait_for_end(start("exit 0")).is_success());
  const ProcessEnd killed = wait_for_end(start("kill -SEGV $$"));
  EXPECT_EQ(killed.signal, SIGSEGV);
  EXPECT_FALSE(killed.is_success());
  EXPECT_EQ(signal_text(SIGSEGV), "signal 11 (Segmentation fault)");
}

TEST(Process, EndsAChildAndItsGroup) {
  const ProcessId leader = start("sleep 600 & exec sleep 600");
  EXPECT_FALSE(end_so_far(leader));
  EXPECT_THAT(child_processes(), Contains(leader));
  EXPECT_FALSE(is_group_empty(leader));
  kill_group(leader);
  EXPECT_EQ(wait_for_end(leader).signal, SIGKILL);
  for (int i = 0; i < 1000 && !is_group_empty(leader); ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(is_group_empty(leader));
}

TEST(Process, IsEndedByItsDescriptor) {
  const ProcessId child = start("exec sleep 600");
  const FileDescriptor process = open_process(child);
  ASSERT_TRUE(process.is_open());
  EXPECT_FALSE(wait_until_readable(process, milliseconds(10)));
  kill_process(process);
  EXPECT_TRUE(wait_until_readable(process, std::chrono::minutes(1)));
  const std::optional<ProcessEnd> end = end_so_far(child);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGKILL);
}

TEST(Process, ForksACopyThatEndsWithTheStatusOfItsWork) {
  const ProcessId parent = this_process();
  const uint32_t generation = fork_generation();
  const Result<ProcessId> child = fork_process([&] {
    const bool is_copy = this_process() != parent && fork_generation() == generation + 1;
    return is_copy ? 7 : 1;
  });
  ASSERT_THAT(child, IsOk());
  EXPECT_EQ(wait_for_end(*child).status, 7);
  EXPECT_EQ(fork_generation(), generation);
}

TEST(Waiting, EndsWhenSomethingCanBeReadOrTheOtherEndIsClosed) {
  Result<Pipe> pipe = make_pipe();
  ASSERT_THAT(pipe, IsOk());
  EXPECT_TRUE(wait_until_writable(pipe->write_end, milliseconds(10)));
  EXPECT_FALSE(wait_until_readable(pipe->read_end, milliseconds(10)));
  const ProcessId child = start("echo abc", {{pipe->write_end.get(), kStandardOutput}});
  EXPECT_TRUE(wait_until_readable(pipe->read_end, std::chrono::minutes(1)));
  std::array<char, 16> buffer{};
  EXPECT_EQ(read_some(pipe->read_end.get(), buffer), 4);
  pipe->write_end.reset();
  EXPECT_TRUE(wait_for_end(child).is_success());
  EXPECT_TRUE(wait_until_readable(pipe->read_end, std::chrono::minutes(1)));
  EXPECT_EQ(read_some(pipe->read_end.get(), buffer), 0);
  wait_a_moment(std::array{pipe->read_end.get()}, std::chrono::minutes(1));
}

}  // namespace
}  // namespace ephost::process_test
