#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/files/temporary_files.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::atomic_file_test {
namespace {

namespace fs = std::filesystem;
using test::FaultyFileSystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string content_of(const fs::path& path) {
  const Result<std::string> content = read_file(path);
  return content.ok() ? *content : content.status().to_string();
}

int64_t entries_of(const fs::path& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

TEST(AtomicFile, AppearsOnlyAtCommit) {
  TempDirectory dir;
  Result<AtomicFile> file = AtomicFile::create(dir / "out");
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(file->append(as_bytes("one ")), IsOk());
  ASSERT_THAT(file->append(as_bytes("two")), IsOk());
  EXPECT_FALSE(fs::exists(dir / "out"));
  EXPECT_EQ(content_of(file->temporary_path()), "one two");
  EXPECT_EQ(file->size(), 7U);
  ASSERT_THAT(file->commit(), IsOk());
  EXPECT_EQ(content_of(dir / "out"), "one two");
  EXPECT_EQ(entries_of(dir.path()), 1);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  TempDirectory dir;
  dir.write("out", "old");
  {
    Result<AtomicFile> file = AtomicFile::create(dir / "out");
    ASSERT_THAT(file, IsOk());
    ASSERT_THAT(file->append(as_bytes("new")), IsOk());
  }
  EXPECT_EQ(content_of(dir / "out"), "old");
  EXPECT_EQ(entries_of(dir.path()), 1);
}

TEST(AtomicFile, ReplacesTheOldFile) {
  TempDirectory dir;
  dir.write("out", "old and longer");
  ASSERT_THAT(write_file_atomically(dir / "out", as_bytes("new")), IsOk());
  EXPECT_EQ(content_of(dir / "out"), "new");
}

TEST(AtomicFile, WritesAnEmptyFile) {
  TempDirectory dir;
  ASSERT_THAT(write_file_atomically(dir / "out", {}), IsOk());
  EXPECT_EQ(content_of(dir / "out"), "");
}

TEST(AtomicFile, IsReadableForOthersAsTheUmaskSays) {
  TempDirectory dir;
  const mode_t old_mask = ::umask(022);
  ASSERT_THAT(write_file_atomically(dir / "out", {}), IsOk());
  ::umask(old_mask);
  EXPECT_EQ(fs::status(dir / "out").permissions(), fs::perms(0644));
}

TEST(AtomicFile, TakesANameOfTheLongestAllowedLength) {
  TempDirectory dir;
  const std::string name(255, 'n');
  EXPECT_THAT(write_file_atomically(dir / name, as_bytes("x")), IsOk());
}

TEST(AtomicFile, WritesIntoTheCurrentDirectory) {
  TempDirectory dir;
  const fs::path before = fs::current_path();
  fs::current_path(dir.path());
  const Status status = write_file_atomically("out", as_bytes("x"));
  fs::current_path(before);
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(content_of(dir / "out"), "x");
}

TEST(AtomicFile, ReplacesALinkAndNotItsTarget) {
  TempDirectory dir;
  dir.write("target", "old");
  fs::create_symlink("target", dir / "out");
  ASSERT_THAT(write_file_atomically(dir / "out", as_bytes("new")), IsOk());
  EXPECT_FALSE(fs::is_symlink(dir / "out"));
  EXPECT_EQ(content_of(dir / "target"), "old");
}

TEST(AtomicFile, PadsWithZerosToAnAlignment) {
  TempDirectory dir;
  Result<AtomicFile> file = AtomicFile::create(dir / "out");
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(file->append(as_bytes("abc")), IsOk());
  ASSERT_THAT(file->align_to(8), IsOk());
  ASSERT_THAT(file->align_to(8), IsOk());
  ASSERT_THAT(file->append(as_bytes("d")), IsOk());
  ASSERT_THAT(file->align_to(uint64_t{1} << 16), IsOk());
  EXPECT_EQ(file->size(), uint64_t{1} << 16);
  ASSERT_THAT(file->commit(), IsOk());
  const std::string content = content_of(dir / "out");
  EXPECT_EQ(content.size(), size_t{1} << 16);
  EXPECT_EQ(content.substr(0, 9), std::string("abc\0\0\0\0\0d", 9));
}

TEST(AtomicFile, RefusesAnAlignmentThatIsNotAPowerOfTwo) {
  TempDirectory dir;
  Result<AtomicFile> file = AtomicFile::create(dir / "out");
  ASSERT_THAT(file, IsOk());
  const Status status = file->align_to(12);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("give a power of two"));
}

TEST(AtomicFile, RefusesADirectory) {
  TempDirectory dir;
  const Result<AtomicFile> file = AtomicFile::create(dir.path());
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.status().message(), HasSubstr("it is a directory; give a file name"));
}

TEST(AtomicFile, RefusesAPathWithoutAFileName) {
  TempDirectory dir;
  const Result<AtomicFile> file = AtomicFile::create(dir / "new/");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.status().message(), HasSubstr("it does not name a file; give a file name"));
}

TEST(AtomicFile, RefusesToReplaceADeviceOrPipe) {
  TempDirectory dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const Result<AtomicFile> file = AtomicFile::create(dir / "pipe");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.status().message(), HasSubstr("device, pipe or socket"));
}

TEST(AtomicFile, SaysThatTheDirectoryIsMissing) {
  TempDirectory dir;
  const Result<AtomicFile> file = AtomicFile::create(dir / "none/out");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kNoSuchFile);
  EXPECT_THAT(file.status().message(), HasSubstr("none/out"));
}

TEST(AtomicFile, WritesEverythingWhenTheSystemTakesFewBytesAtATime) {
  TempDirectory dir;
  FaultyFileSystem slow;
  slow.most_bytes_per_call = 3;
  ASSERT_THAT(write_file_atomically(dir / "out", as_bytes("0123456789"), slow), IsOk());
  EXPECT_EQ(content_of(dir / "out"), "0123456789");
}

TEST(AtomicFile, ReportsAnySingleFailureAndLeavesOldOrNew) {
  constexpr std::string_view kOld = "old content";
  constexpr std::string_view kNew = "the new content";
  TempDirectory counting;
  FaultyFileSystem healthy;
  healthy.most_bytes_per_call = 4;
  ASSERT_THAT(write_file_atomically(counting / "out", as_bytes(kNew), healthy), IsOk());
  ASSERT_GE(healthy.operations(), 8);

  for (const int error : {EIO, ENOSPC}) {
    // Operation 0 checks whether the target is a directory; its failure is taken as "it is not".
    for (int n = 1; n < healthy.operations(); ++n) {
      TempDirectory dir;
      dir.write("out", kOld);
      FaultyFileSystem faulty;
      faulty.most_bytes_per_call = 4;
      faulty.fail_at = n;
      faulty.error = error;
      const Status status = write_file_atomically(dir / "out", as_bytes(kNew), faulty);
      // Nothing depends on the lock, or on closing the synced file and the directory.
      const bool is_harmless =
          n == 2 || n == healthy.operations() - 1 || n == healthy.operations() - 4;
      EXPECT_EQ(status.ok(), is_harmless) << "operation " << n;
      if (!status.ok()) {
        EXPECT_THAT(status.message(), HasSubstr(dir.path().native()));
      }
      EXPECT_THAT(content_of(dir / "out"), AnyOf(kOld, kNew)) << "operation " << n;
      EXPECT_EQ(entries_of(dir.path()), 1) << "operation " << n;
    }
  }
}

TEST(AtomicFile, TriesAgainWhenAnyOperationIsInterrupted) {
  FaultyFileSystem healthy;
  TempDirectory counting;
  ASSERT_THAT(write_file_atomically(counting / "out", as_bytes("new"), healthy), IsOk());
  for (const int n : {0, 1, 4, 5}) {  // stat, open, write, fsync; flock and fstat never are
    TempDirectory dir;
    FaultyFileSystem faulty;
    faulty.fail_at = n;
    faulty.error = EINTR;
    EXPECT_THAT(write_file_atomically(dir / "out", as_bytes("new"), faulty), IsOk());
    EXPECT_EQ(content_of(dir / "out"), "new");
  }
}

// Records in which order the calls that make a file durable were made.
class RecordingFileSystem : public PosixFileSystem {
 public:
  ssize_t write(int descriptor, const void* data, size_t size) const override {
    calls_ += "write ";
    return PosixFileSystem::write(descriptor, data, size);
  }
  int fsync(int descriptor) const override {
    calls_ += "fsync ";
    return PosixFileSystem::fsync(descriptor);
  }
  int rename(const char* from, const char* to) const override {
    calls_ += "rename ";
    return PosixFileSystem::rename(from, to);
  }
  [[nodiscard]] const std::string& calls() const { return calls_; }

 private:
  mutable std::string calls_;
};

TEST(AtomicFile, SyncsTheDataBeforeTheRenameAndTheDirectoryAfterIt) {
  TempDirectory dir;
  const RecordingFileSystem recording;
  ASSERT_THAT(write_file_atomically(dir / "out", as_bytes("x"), recording), IsOk());
  EXPECT_EQ(recording.calls(), "write fsync rename fsync ");
}

class StuckFileSystem : public PosixFileSystem {
 public:
  ssize_t write(int, const void*, size_t) const override { return 0; }
};

TEST(AtomicFile, TakesAWriteWithoutProgressAsAnError) {
  TempDirectory dir;
  EXPECT_EQ(write_file_atomically(dir / "out", as_bytes("x"), StuckFileSystem()).code(),
            StatusCode::kFail);
}

TEST(AtomicFile, StepsOverATemporaryFileThatWasLeftBehind) {
  TempDirectory dir;
  FaultyFileSystem faulty;
  faulty.fail_at = 1;  // the first attempt to create one
  faulty.error = EEXIST;
  EXPECT_THAT(write_file_atomically(dir / "out", as_bytes("x"), faulty), IsOk());
}

TEST(AtomicFile, LeavesTemporaryFilesOfLivingWritersAndOtherFilesWhenClearingAway) {
  const TempDirectory dir;
  Result<AtomicFile> living = AtomicFile::create(dir / "out");
  ASSERT_THAT(living, IsOk());
  dir.write(".ephost-123-4.tmp", "left behind");
  for (const char* other : {".ephost-mine.tmp", ".ephost-1-2.tmpx", "1-2.tmp", ".ephost-1-2"}) {
    dir.write(other, "");
  }
  remove_abandoned_temporaries(dir.path());
  EXPECT_FALSE(fs::exists(dir / ".ephost-123-4.tmp"));
  EXPECT_EQ(entries_of(dir.path()), 5);
  EXPECT_THAT(living->append(as_bytes("x")), IsOk());
  EXPECT_THAT(living->commit(), IsOk());
  EXPECT_EQ(content_of(dir / "out"), "x");
}

// Cleans up between the creation of the first temporary file and its lock.
class HastyFileSystem : public PosixFileSystem {
 public:
  explicit HastyFileSystem(bool holds_lock) : holds_lock_(holds_lock) {}
  ~HastyFileSystem() override { ::close(lock_); }

  int open(const char* path, int flags, mode_t mode) const override {
    const int descriptor = PosixFileSystem::open(path, flags, mode);
    if ((flags & O_CREAT) == 0 || lock_ >= 0) return descriptor;
    lock_ = PosixFileSystem::open(path, O_RDWR, 0);
    if (holds_lock_) {
      EXPECT_EQ(::flock(lock_, LOCK_EX), 0);
    } else {
      PosixFileSystem::unlink(path);
    }
    return descriptor;
  }

 private:
  bool holds_lock_;
  mutable int lock_ = -1;
};

TEST(AtomicFile, TakesAnotherNameWhenItsTemporaryFileIsClearedAwayAtOnce) {
  for (const bool holds_lock : {false, true}) {
    const TempDirectory dir;
    const HastyFileSystem hasty(holds_lock);
    EXPECT_THAT(write_file_atomically(dir / "out", as_bytes("x"), hasty), IsOk());
    EXPECT_EQ(content_of(dir / "out"), "x");
    EXPECT_EQ(entries_of(dir.path()), 1);
  }
}

TEST(AtomicFile, MovesItsDutyToCleanUp) {
  TempDirectory dir;
  {
    Result<AtomicFile> first = AtomicFile::create(dir / "a");
    Result<AtomicFile> second = AtomicFile::create(dir / "b");
    ASSERT_THAT(first, IsOk());
    ASSERT_THAT(second, IsOk());
    *second = std::move(*first);
    EXPECT_EQ(entries_of(dir.path()), 1);
    const AtomicFile third(std::move(*second));
    EXPECT_EQ(third.path(), dir / "a");
  }
  EXPECT_EQ(entries_of(dir.path()), 0);
}

TEST(AtomicFile, DoesNotMixTwoWriters) {
  TempDirectory dir;
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    writers.emplace_back([&dir, letter] {
      const std::string content(100000, letter);
      for (int i = 0; i < 5; ++i) {
        EXPECT_THAT(write_file_atomically(dir / "out", as_bytes(content)), IsOk());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string content = content_of(dir / "out");
  ASSERT_EQ(content.size(), 100000U);
  EXPECT_EQ(content, std::string(100000, content[0]));
  EXPECT_EQ(entries_of(dir.path()), 1);
}

}  // namespace
}  // namespace ephost::atomic_file_test
