#include "host/worker/process/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "host/worker/process/file_rules.h"
#include "host/worker/process/system_calls.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker::sandbox_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SandboxReport report;
    probe_files(report);
    if (!report.missing.empty()) GTEST_SKIP() << report.missing.front();
    begin();
  }

  void begin() {
    readable_.write("in", "text");
    other_.write("secret", "text");
    start(SandboxRules{.readable = {readable_.path(), "/does/not/exist"},
                       .writable = {writable_.path()}});
  }

  void start(std::optional<SandboxRules> rules) {
    WorkerOptions options = test_options();
    options.sandbox = std::move(rules);
    auto worker = WorkerProcess::start(options);
    ASSERT_THAT(worker, IsOk());
    worker_ = std::move(*worker);
  }

  std::string attempt(const std::string& what) {
    const Result<std::string> answer = ask(*worker_, "try " + what);
    return answer.ok() ? *answer : answer.status().message();
  }

  test::TempDirectory readable_;
  test::TempDirectory writable_;
  test::TempDirectory other_;
  std::unique_ptr<WorkerProcess> worker_;
};

// Those that do not need Landlock.
class SystemCallsTest : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxReport report;
    probe_system_calls(report);
    if (!report.missing.empty()) GTEST_SKIP() << report.missing.front();
    begin();
  }
};

TEST_F(SandboxTest, NothingIsMissingWhereTheKernelHasBoth) {
  EXPECT_TRUE(worker_->sandbox_report().missing.empty());
}

TEST_F(SandboxTest, ListedFilesAreUsableAsListed) {
  EXPECT_EQ(attempt("read " + (readable_ / "in").string()), "ok");
  EXPECT_EQ(attempt("write " + (readable_ / "in").string()), "EACCES");
  EXPECT_EQ(attempt("write " + (readable_ / "new").string()), "EACCES");
  EXPECT_EQ(attempt("write " + (writable_ / "new").string()), "ok");
  EXPECT_EQ(attempt("read " + (writable_ / "new").string()), "ok");
  EXPECT_EQ(attempt("read /proc/self/maps"), "ok");
  EXPECT_EQ(attempt("write /dev/null"), "ok");
}

TEST_F(SandboxTest, OtherFilesAreOutOfReach) {
  EXPECT_EQ(attempt("read " + (other_ / "secret").string()), "EACCES");
  EXPECT_EQ(attempt("write " + (other_ / "new").string()), "EACCES");
  EXPECT_EQ(attempt("read /etc/passwd"), "EACCES");
  EXPECT_EQ(attempt("chmod " + (writable_.path()).string()), "EPERM");
  EXPECT_FALSE(std::filesystem::exists(other_ / "new"));
}

TEST_F(SandboxTest, MemoryOfOthersIsOutOfReachAsAFile) { EXPECT_EQ(attempt("mem"), "EACCES"); }

TEST_F(SystemCallsTest, NetworkProcessesAndSignalsAreOutOfReach) {
  for (const char* what : {"connect", "program", "exec", "kill", "ptrace", "peek"}) {
    EXPECT_EQ(attempt(what), "EPERM") << what;
  }
  EXPECT_EQ(attempt("thread"), "ok");
}

TEST_F(SystemCallsTest, SocketsThatCouldSendElsewhereAreOutOfReach) {
  for (const char* what : {"pair dgram", "pair raw", "pair cloexec_dgram", "address"}) {
    EXPECT_EQ(attempt(what), "EPERM") << what;
  }
  EXPECT_EQ(attempt("pair stream"), "ok");
}

TEST_F(SystemCallsTest, FilesCannotSendSignals) {
  for (const char* what : {"own setown", "own setown_ex", "own setsig", "own wide", "own fiosetown",
                           "own siocspgrp"}) {
    EXPECT_EQ(attempt(what), "EPERM") << what;
  }
}

TEST_F(SystemCallsTest, TheDeathOfTheHostRemainsTheWorkers) {
  EXPECT_EQ(attempt("outlive"), "EPERM");
  EXPECT_EQ(attempt("outlive wide"), "EPERM");
}

TEST_F(SystemCallsTest, SchedulingAndLimitsOfTheHostAreOutOfReach) {
  for (const char* what : {"host scheduler", "host param", "host attr", "host priority",
                           "host ioprio", "host limit", "host migrate", "host move"}) {
    EXPECT_EQ(attempt(what), "EPERM") << what;
  }
  cpu_set_t before;
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(attempt("host affinity"), "ok");  // though nothing has happened
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST_F(SandboxTest, TheSameIsPossibleWithoutASandbox) {
  start(std::nullopt);
  for (const char* what : {"read /etc/passwd", "program", "kill", "thread"}) {
    EXPECT_EQ(attempt(what), "ok") << what;
  }
  EXPECT_EQ(attempt("read " + (other_ / "secret").string()), "ok");
  EXPECT_EQ(attempt("connect"), "ECONNREFUSED");
  EXPECT_EQ(attempt("mem"), "ok");
}

TEST(SandboxReportTest, SaysWhatEachVersionOfLandlockLacks) {
  const auto missing = [](int version) {
    SandboxReport report;
    report_version(version, report);
    return report.missing;
  };
  EXPECT_THAT(missing(0), ElementsAre(HasSubstr("files are not restricted")));
  EXPECT_EQ(missing(2).size(), 3U);
  EXPECT_THAT(missing(5), ElementsAre(HasSubstr("older than version 6")));
  EXPECT_THAT(missing(6), IsEmpty());
}

// Makes this process one on a kernel without Landlock.
bool hide_landlock() {
  std::array<sock_filter, 4> code = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {code.size(), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(SandboxWithoutLandlock, RestrictsSystemCallsAndSaysWhatIsMissing) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer starts no threads after a fork";
  const pid_t child = ::fork();
  if (child == 0) {
    if (!hide_landlock()) ::_exit(1);
    WorkerOptions options = test_options();
    options.sandbox.emplace();
    const auto worker = WorkerProcess::start(options);
    if (!worker.ok()) ::_exit(2);
    const auto& missing = (*worker)->sandbox_report().missing;
    if (missing.size() != 1 || missing[0].find("no Landlock") == missing[0].npos) ::_exit(3);
    for (const char* what : {"connect", "pair dgram", "own setown", "outlive wide", "host param"}) {
      if (*ask(**worker, std::string("try ") + what) != "EPERM") ::_exit(4);
    }
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(SandboxTest, ACrashIsReportedFromWithin) {
  EXPECT_NE(failure_of(*worker_, "die abort").find("SIGABRT in compute of TestProvider"),
            std::string::npos);
}

}  // namespace
}  // namespace ephost::worker::sandbox_test
