#include "host/worker/process/sandbox.h"

#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker {
namespace {

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!probe_sandbox().missing.empty()) GTEST_SKIP() << probe_sandbox().missing.front();
    readable_.write("in", "text");
    other_.write("secret", "text");
    start(SandboxRules{.readable = {readable_.path(), "/does/not/exist"},
                       .writable = {writable_.path()}});
  }

  void start(std::optional<SandboxRules> rules) {
    WorkerOptions options = test_options();
    options.sandbox = std::move(rules);
    auto worker = WorkerProcess::start(options);
    ASSERT_TRUE(worker.ok()) << worker.status().to_string();
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

TEST_F(SandboxTest, NetworkProcessesAndSignalsAreOutOfReach) {
  EXPECT_EQ(attempt("connect"), "EPERM");
  EXPECT_EQ(attempt("program"), "EPERM");
  EXPECT_EQ(attempt("exec"), "EPERM");
  EXPECT_EQ(attempt("kill"), "EPERM");
  EXPECT_EQ(attempt("ptrace"), "EPERM");
  EXPECT_EQ(attempt("peek"), "EPERM");
  EXPECT_EQ(attempt("mem"), "EACCES");
  EXPECT_EQ(attempt("thread"), "ok");
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

TEST_F(SandboxTest, ACrashIsReportedFromWithin) {
  EXPECT_NE(failure_of(*worker_, "die abort").find("SIGABRT in compute of TestProvider"),
            std::string::npos);
}

}  // namespace
}  // namespace ephost::worker
