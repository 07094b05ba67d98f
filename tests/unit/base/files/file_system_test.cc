#include "host/base/files/file_system.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#include "host/base/files/file.h"
#include "tests/support/temp_directory.h"

namespace ephost::file_system_test {
namespace {

constexpr rlim_t kMaxBytes = 4096;

// How a child process ended that may only write small files: its exit status, or the negated signal
// that killed it.
int end_of_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const struct rlimit limit = {.rlim_cur = kMaxBytes, .rlim_max = kMaxBytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(body());
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

bool is_refused(const Status& status) {
  return status.code() == StatusCode::kFail &&
         status.message().find("File too large") != std::string::npos;
}

TEST(PosixFileSystem, AFileBeyondItsLimitIsAFailedWrite) {
  const test::TempDirectory dir;
  EXPECT_EQ(end_of_child([&] {
              const std::string large(10 * kMaxBytes, 'x');
              return is_refused(write_file_atomically(dir / "file", as_bytes(large))) ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

// The disposition belongs to the application.
TEST(PosixFileSystem, TheSignalEndsOtherWritesAsBefore) {
  const test::TempDirectory dir;
  EXPECT_EQ(end_of_child([&] {
              const std::string large(10 * kMaxBytes, 'x');
              static_cast<void>(write_file_atomically(dir / "file", as_bytes(large)));
              std::raise(SIGXFSZ);
              return 0;
            }),
            -SIGXFSZ);
}

TEST(PosixFileSystem, ASignalThatWasPendingStaysSo) {
  const test::TempDirectory dir;
  EXPECT_EQ(end_of_child([&] {
              sigset_t set;
              sigemptyset(&set);
              sigaddset(&set, SIGXFSZ);
              ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
              std::raise(SIGXFSZ);
              const std::string large(10 * kMaxBytes, 'x');
              const Status status = write_file_atomically(dir / "file", as_bytes(large));
              sigset_t pending;
              sigpending(&pending);
              return is_refused(status) && sigismember(&pending, SIGXFSZ) == 1 ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace ephost::file_system_test
