#include "host/context/folder_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::context::folder_lock_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::IsOk;
using test::TempDirectory;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A process that holds the lock on the folder while the object exists.
class LockingProcess {
 public:
  explicit LockingProcess(const std::filesystem::path& folder) {
    int ready[2] = {};
    EXPECT_EQ(::pipe(ready), 0);
    process_ = ::fork();
    if (process_ == 0) {
      const auto lock = FolderLock::acquire(folder, {}, posix_file_system());
      const ssize_t written = ::write(ready[1], lock.ok() ? "y" : "n", 1);
      if (written == 1) ::pause();
      ::_exit(0);
    }
    char answer = 'n';
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }
  LockingProcess(const LockingProcess&) = delete;
  LockingProcess& operator=(const LockingProcess&) = delete;
  ~LockingProcess() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  [[nodiscard]] pid_t id() const { return process_; }

 private:
  pid_t process_ = -1;
};

Status acquire(const TempDirectory& dir, const LockWait& wait) {
  return FolderLock::acquire(dir.path(), wait, posix_file_system()).status();
}

TEST(FolderLock, GivesUpAfterTheTimeoutWithTheRemedy) {
  const TempDirectory dir;
  const LockingProcess other(dir.path());
  for (const int timeout : {0, 30}) {
    const Status status = acquire(dir, {.timeout = milliseconds(timeout)});
    EXPECT_EQ(status.code(), StatusCode::kFail);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("has been locked by"), HasSubstr(dir.path().native()),
                      HasSubstr("ep.context_lock_timeout_ms")));
  }
}

TEST(FolderLock, IsFreeAgainWhenItsProcessDies) {
  const TempDirectory dir;
  { const LockingProcess other(dir.path()); }
  EXPECT_THAT(acquire(dir, {.timeout = milliseconds(0)}), IsOk());
}

TEST(FolderLock, ReportsAfterASecondWhomItWaitsFor) {
  const TempDirectory dir;
  const LockingProcess other(dir.path());
  std::vector<std::string> said;
  EXPECT_FALSE(acquire(dir, {.timeout = milliseconds(1200),
                             .report = [&](const std::string& text) { said.push_back(text); }})
                   .ok());
  ASSERT_THAT(said, ElementsAre(HasSubstr("waiting for the lock on")));
  // On some file systems, stat and /proc/locks report different device numbers.
  EXPECT_THAT(said[0], ::testing::AnyOf(HasSubstr("process " + std::to_string(other.id())),
                                        HasSubstr("another process")));
}

TEST(FolderLock, StopsWaitingWhenItIsCancelled) {
  const TempDirectory dir;
  const LockingProcess other(dir.path());
  const std::atomic<bool> cancelled = true;
  const Status status =
      acquire(dir, {.timeout = hours(1), .cancellation = Cancellation(&cancelled)});
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_THAT(status.message(), HasSubstr("while waiting for the lock"));
}

TEST(FolderLock, IsTakenAfterACancellationIfItIsFree) {
  const TempDirectory dir;
  const std::atomic<bool> cancelled = true;
  EXPECT_THAT(acquire(dir, {.cancellation = Cancellation(&cancelled)}), IsOk());
}

}  // namespace
}  // namespace ephost::context::folder_lock_test
