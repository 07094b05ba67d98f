#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <thread>
#include <vector>

#include "host/worker/process/worker_process.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker::process_test {
namespace {

using test::IsOk;

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(WorkerProcessTest, IsGoneAndReapedOnceItsObjectIs) {
  const size_t descriptors = open_descriptors();
  pid_t pid = 0;
  {
    auto worker = WorkerProcess::start(test_options());
    ASSERT_THAT(worker, IsOk());
    pid = (*worker)->pid();
    EXPECT_THAT((*worker)->status(), IsOk());
    EXPECT_EQ(*ask(**worker, "echo"), "echo");
  }
  EXPECT_FALSE(is_alive(pid));
  EXPECT_EQ(children(), "");
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST(WorkerProcessTest, SaysThatTheProgramIsMissing) {
  WorkerOptions options = test_options();
  options.program = "/nowhere/ephost-worker";
  const auto worker = WorkerProcess::start(options);
  EXPECT_EQ(worker.status().code(), StatusCode::kNoSuchFile);
  EXPECT_EQ(worker.status().message(),
            "cannot start \"/nowhere/ephost-worker\": No such file or directory");
}

TEST(WorkerProcessTest, SaysHowAWorkerEndedThatNeverBecameReady) {
  EXPECT_EQ(WorkerProcess::start(test_options({"exit"})).status().message(),
            "the worker of \"acme\" exited with status 7");
}

TEST(WorkerProcessTest, KillsAWorkerThatIsNotReadyInTime) {
  WorkerOptions options = test_options({"silent"});
  options.start_limit = std::chrono::milliseconds(200);
  EXPECT_EQ(WorkerProcess::start(options).status().message(),
            "the worker of \"acme\" was ended: it was not ready after 0.2 s");
  EXPECT_EQ(children(), "");
}

// Where the first call of a channel is lost, it waits for ten seconds.
TEST(WorkerProcessTest, AnswersTheFirstCallOfEachChannelAtOnce) {
  std::chrono::steady_clock::duration waited{};
  for (int i = 0; i < 20; ++i) {
    auto worker = WorkerProcess::start(test_options());
    ASSERT_THAT(worker, IsOk());
    std::vector<ChannelLease> leases;
    for (int j = 0; j < 20; ++j) {
      auto channel = (*worker)->channel();
      ASSERT_THAT(channel, IsOk());
      // The thread of the worker's end gets time to start, and to sleep.
      std::this_thread::sleep_for(std::chrono::microseconds(i * 20));
      const auto began = std::chrono::steady_clock::now();
      ASSERT_EQ(*ask(**channel, "echo"), "echo");
      waited += std::chrono::steady_clock::now() - began;
      leases.push_back(std::move(*channel));
    }
  }
  EXPECT_LT(waited, std::chrono::seconds(9));
}

TEST(WorkerProcessTest, TellsOfEachFailureEvenIfItIsDestroyedAtOnce) {
  std::atomic<int> told = 0;
  CallOptions limited;
  limited.limit = std::chrono::milliseconds(5);
  for (int i = 1; i <= 30; ++i) {
    WorkerOptions options = test_options();
    options.on_failure = [&](const Ending&) { ++told; };
    auto worker = WorkerProcess::start(options);
    ASSERT_THAT(worker, IsOk());
    const bool hangs = i % 2 == 0;
    ASSERT_NE(
        failure_of(**worker, hangs ? "die hang" : "die segv", hangs ? limited : CallOptions()),
        "answered ");
    worker->reset();
    EXPECT_EQ(told, i) << (hangs ? "hang" : "crash");
  }
  // One that is not needed any more has not failed.
  WorkerOptions options = test_options();
  options.on_failure = [&](const Ending&) { ++told; };
  { const auto worker = WorkerProcess::start(options); }
  EXPECT_EQ(told, 30);
}

TEST(WorkerProcessTest, SeesTheEndOfOneWhileAnotherFailureIsRecorded) {
  std::promise<void> is_over;
  WorkerOptions slow = test_options();
  slow.on_failure = [over = is_over.get_future().share()](const Ending&) { over.wait(); };
  auto first = WorkerProcess::start(slow);
  auto second = WorkerProcess::start(test_options());
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_NE(failure_of(**first, "die segv"), "answered ");
  CallOptions limited;
  limited.limit = std::chrono::seconds(5);
  EXPECT_NE(failure_of(**second, "die segv", limited).find("died of SIGSEGV"), std::string::npos);
  is_over.set_value();
}

TEST(WorkerProcessTest, InheritsNoDescriptorOfTheHost) {
  const int open = ::open("/dev/null", O_RDONLY);  // not closed on exec
  ASSERT_GE(open, 0);
  const int high = ::fcntl(open, F_DUPFD, 200);
  auto worker = WorkerProcess::start(test_options());
  ASSERT_THAT(worker, IsOk());
  const std::string folder = "/proc/" + std::to_string((*worker)->pid()) + "/fd/";
  EXPECT_FALSE(std::filesystem::exists(folder + "200"));
  EXPECT_EQ(std::filesystem::read_symlink(folder + "0"), "/dev/null");
  ::close(open);
  ::close(high);
}

TEST(WorkerProcessTest, DiesWithAHostThatIsKilled) {
  int pipe_ends[2] = {};
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t host = ::fork();
  if (host == 0) {
    auto worker = WorkerProcess::start(test_options());
    const pid_t pid = worker.ok() ? (*worker)->pid() : 0;
    static_cast<void>(!::write(pipe_ends[1], &pid, sizeof pid));
    ::kill(pid, SIGSTOP);  // it cannot end by itself
    ::raise(SIGKILL);
  }
  pid_t pid = 0;
  ASSERT_EQ(::read(pipe_ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ::waitpid(host, nullptr, 0);
  ASSERT_GT(pid, 0);
  for (int i = 0; i < 500 && is_alive(pid); ++i) {
    // The process that adopted it may take a while to reap it.
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stat, line);
    if (line.find(") Z ") != std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_LT(i, 499) << line;
  }
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(WorkerProcessTest, OfAParentIsNotCalledByAForkedProcess) {
  auto worker = WorkerProcess::start(test_options());
  ASSERT_THAT(worker, IsOk());
  auto channel = (*worker)->channel();
  ASSERT_THAT(channel, IsOk());
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<std::string> answer = ask(**channel, "echo");
    const bool is_refused =
        !answer.ok() && answer.status().code() == StatusCode::kEpFail &&
        answer.status().message().find("create sessions after the fork") != std::string::npos &&
        !(*worker)->channel().ok();
    worker->reset();
    ::_exit(is_refused ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*ask(**channel, "echo"), "echo");
}

TEST(WorkerProcessTest, EndsAtOnceThoughAForkedProcessHasItsSocketToo) {
  WorkerOptions options = test_options();
  options.grace = std::chrono::seconds(20);
  auto worker = WorkerProcess::start(options);
  ASSERT_THAT(worker, IsOk());
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  const auto began = std::chrono::steady_clock::now();
  worker->reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(WorkerProcessTest, AForkedProcessStartsWorkersOfItsOwn) {
  if ((EPH_BUILD_FLAGS & EPH_BUILD_THREAD_SANITIZER) != 0) {
    GTEST_SKIP() << "ThreadSanitizer starts no threads after a fork";
  }
  auto worker = WorkerProcess::start(test_options());
  ASSERT_THAT(worker, IsOk());
  const pid_t child = ::fork();
  if (child == 0) {
    auto own = WorkerProcess::start(test_options());
    ::_exit(own.ok() && ask(**own, "echo").ok() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(WorkerProcessTest, WorksWhereTheApplicationIgnoresItsChildren) {
  struct sigaction previous = {};
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignore, &previous);
  {
    auto worker = WorkerProcess::start(test_options());
    ASSERT_THAT(worker, IsOk());
    EXPECT_EQ(failure_of(**worker, "die kill"),
              "the worker of \"acme\" ended; how, is not known, as another part of the program has "
              "waited for it");
  }
  ::sigaction(SIGCHLD, &previous, nullptr);
}

}  // namespace
}  // namespace ephost::worker::process_test
