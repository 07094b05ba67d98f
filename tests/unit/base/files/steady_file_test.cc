#include "host/base/files/steady_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "tests/support/temp_directory.h"

namespace ephost::steady_file_test {
namespace {

// Every file lies on a file system of this type.
class FileSystemOfKind : public PosixFileSystem {
 public:
  explicit FileSystemOfKind(long kind) : kind_(kind) {}
  int fstatfs(int, struct statfs* out_info) const override {
    out_info->f_type = static_cast<decltype(out_info->f_type)>(kind_);
    return 0;
  }

 private:
  long kind_;
};

// The kernel grants leases only on the user's own files.
class OthersFiles : public FileSystemOfKind {
 public:
  OthersFiles() : FileSystemOfKind(EXT4_SUPER_MAGIC) {}
  int fcntl(int descriptor, int command, int argument) const override {
    errno = EACCES;
    return command == F_SETLEASE ? -1 : FileSystemOfKind::fcntl(descriptor, command, argument);
  }
};

const FileSystemOfKind kExt4(EXT4_SUPER_MAGIC);

class SteadyFile : public ::testing::Test {
 protected:
  ~SteadyFile() override { ::close(reader_); }

  [[nodiscard]] bool is_steady(const FileSystem& file_system) const {
    struct stat info {};
    EXPECT_EQ(::fstat(reader_, &info), 0);
    return ephost::is_steady(reader_, info, file_system);
  }

  static bool is_steady_of(uid_t owner, mode_t mode) {
    struct stat info {};
    info.st_uid = owner;
    info.st_mode = S_IFREG | mode;
    const test::TempDirectory dir;
    const int descriptor = ::open(dir.write("file", "x").c_str(), O_RDONLY);
    const bool steady = ephost::is_steady(descriptor, info, OthersFiles());
    ::close(descriptor);
    return steady;
  }

  test::TempDirectory dir_;
  std::filesystem::path path_ = dir_.write("file", std::string(4096, 'a'));
  int reader_ = ::open(path_.c_str(), O_RDONLY);
};

TEST_F(SteadyFile, IsAFileThatNoProcessHasOpenForWriting) { EXPECT_TRUE(is_steady(kExt4)); }

TEST_F(SteadyFile, IsNotAFileThatAProcessHasOpenForWriting) {
  const int writer = ::open(path_.c_str(), O_WRONLY);
  EXPECT_FALSE(is_steady(kExt4));
  ::close(writer);
  EXPECT_TRUE(is_steady(kExt4));
}

TEST_F(SteadyFile, IsNotOneThatIsMappedForWritingWhenItsDescriptorIsClosed) {
  if (!is_steady(posix_file_system())) {
    GTEST_SKIP() << "this file system does not report every change to a file";
  }
  const int writer = ::open(path_.c_str(), O_RDWR);
  void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer, 0);
  ::close(writer);
  EXPECT_FALSE(is_steady(posix_file_system()));
  ::munmap(memory, 4096);
  EXPECT_TRUE(is_steady(posix_file_system()));
}

TEST_F(SteadyFile, IsNotOnAFileSystemWhoseTimesMissChanges) {
  EXPECT_FALSE(is_steady(FileSystemOfKind(TMPFS_MAGIC)));
  EXPECT_FALSE(is_steady(FileSystemOfKind(OVERLAYFS_SUPER_MAGIC)));
  EXPECT_FALSE(is_steady(FileSystemOfKind(NFS_SUPER_MAGIC)));
}

TEST_F(SteadyFile, IsLeftWithoutALease) {
  ASSERT_TRUE(is_steady(kExt4));
  const int writer = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK);
  EXPECT_GE(writer, 0) << "a lease is in the way";
  ::close(writer);
}

TEST_F(SteadyFile, OfAnotherUserIsOneThatOnlyRootCanWriteTo) {
  EXPECT_TRUE(is_steady_of(0, 0644));
  EXPECT_FALSE(is_steady_of(0, 0664));
  EXPECT_FALSE(is_steady_of(0, 0646));
  EXPECT_FALSE(is_steady_of(12345, 0644));
}

}  // namespace
}  // namespace ephost::steady_file_test
