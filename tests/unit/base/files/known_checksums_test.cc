#include "host/base/files/known_checksums.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "host/base/files/file.h"
#include "tests/support/temp_directory.h"

namespace ephost::known_checksums_test {
namespace {

namespace fs = std::filesystem;
using test::TempDirectory;

// A ctime cannot be set; here every file looks older than it is, and lies on a file system whose
// times are reliable.
class AgedFileSystem : public PosixFileSystem {
 public:
  explicit AgedFileSystem(time_t seconds) : seconds_(seconds) {}
  int fstat(int descriptor, struct stat* out_info) const override {
    const int outcome = PosixFileSystem::fstat(descriptor, out_info);
    out_info->st_ctim.tv_sec -= seconds_;
    return outcome;
  }
  int fstatfs(int, struct statfs* out_info) const override {
    out_info->f_type = EXT4_SUPER_MAGIC;
    return 0;
  }

 private:
  time_t seconds_;
};

const AgedFileSystem kHourOld(3600);
constexpr size_t kLarge = size_t{2} << 20;

MappedFile open(const fs::path& path, const FileSystem& file_system = kHourOld) {
  return *MappedFile::open(path, file_system);
}

class KnownChecksumsTest : public ::testing::Test {
 protected:
  TempDirectory dir_;
  fs::path path_ = dir_.write("data", std::string(kLarge, 'a'));
  KnownChecksums checksums_{dir_ / "runtime/checksums"};
  Hash128 checksum_ = content_checksum(as_bytes(std::string(kLarge, 'a')));
};

TEST_F(KnownChecksumsTest, AreFoundByEveryMappingOfTheVersion) {
  EXPECT_FALSE(checksums_.find(open(path_).bytes()));
  EXPECT_EQ(checksums_.checksum_of(open(path_).bytes()), checksum_);
  EXPECT_EQ(KnownChecksums(dir_ / "runtime/checksums").find(open(path_).bytes()), checksum_);
  fs::create_hard_link(path_, dir_ / "link");
  EXPECT_FALSE(checksums_.find(open(dir_.write("other", std::string(kLarge, 'a'))).bytes()));
}

TEST_F(KnownChecksumsTest, AreNotRememberedOfWhatWasCancelled) {
  const std::atomic<bool> cancelled = true;
  const fs::path path = dir_.write("large", std::string(size_t{40} << 20, 'a'));
  const auto checksum = checksums_.checksum_of(open(path).bytes(), Cancellation(&cancelled));
  EXPECT_EQ(checksum.status().code(), StatusCode::kCancelled);
  EXPECT_FALSE(checksums_.find(open(path).bytes()));
}

// Proves that the record is what counts: no computation would yield this checksum.
TEST_F(KnownChecksumsTest, AreNotTakenAgain) {
  const Hash128 invented{.high = 1, .low = 2};
  checksums_.remember(open(path_).bytes(), invented);
  EXPECT_EQ(checksums_.checksum_of(open(path_).bytes()), invented);
}

TEST_F(KnownChecksumsTest, PartsOfAFileHaveTheirOwn) {
  const MappedFile file = open(path_);
  const auto half = file.bytes().subspan(kLarge / 2);
  EXPECT_EQ(checksums_.checksum_of(half), content_checksum(half));
  EXPECT_FALSE(checksums_.find(file.bytes()));
  EXPECT_EQ(checksums_.find(half), content_checksum(half));
}

TEST_F(KnownChecksumsTest, AChangedFileIsUnknown) {
  checksums_.remember(open(path_).bytes(), checksum_);
  // The file is changed in place, with the same size, and its mtime is set back.
  const auto modified = fs::last_write_time(path_);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000).put('b');
  }
  fs::last_write_time(path_, modified);
  EXPECT_FALSE(checksums_.find(open(path_).bytes()));
}

TEST_F(KnownChecksumsTest, AFileThatChangedJustNowIsNotRecorded) {
  EXPECT_EQ(checksums_.checksum_of(open(path_, AgedFileSystem(0)).bytes()), checksum_);
  EXPECT_FALSE(fs::exists(dir_ / "runtime/checksums"));
  // One second is not enough, as some file systems have a resolution of one second.
  EXPECT_EQ(checksums_.checksum_of(open(path_, AgedFileSystem(1)).bytes()), checksum_);
  EXPECT_FALSE(fs::exists(dir_ / "runtime/checksums"));
}

// The ctime advanced when the page was first written to, and does not advance again.
TEST_F(KnownChecksumsTest, AFileThatIsMappedForWritingIsReadAgain) {
  const int descriptor = ::open(path_.c_str(), O_RDWR);
  void* const memory = ::mmap(nullptr, kLarge, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const content = static_cast<char*>(memory);
  content[0] = 'b';
  const Hash128 before = checksums_.checksum_of(open(path_).bytes());
  content[1] = 'c';
  const MappedFile changed = open(path_);
  EXPECT_NE(checksums_.checksum_of(changed.bytes()), before);
  ::munmap(memory, kLarge);
  ::close(descriptor);
}

TEST_F(KnownChecksumsTest, ARecordIsNotUsedWhileTheFileIsOpenForWriting) {
  checksums_.remember(open(path_).bytes(), checksum_);
  const int descriptor = ::open(path_.c_str(), O_RDWR);
  EXPECT_FALSE(checksums_.find(open(path_).bytes()));
  ::close(descriptor);
  EXPECT_TRUE(checksums_.find(open(path_).bytes()));
}

TEST_F(KnownChecksumsTest, SmallOrForeignBytesAreNotRecorded) {
  const std::string own(kLarge, 'a');
  EXPECT_EQ(checksums_.checksum_of(as_bytes(own)), checksum_);
  EXPECT_EQ(checksums_.checksum_of(open(dir_.write("small", "x")).bytes()),
            content_checksum(as_bytes("x")));
  EXPECT_FALSE(fs::exists(dir_ / "runtime/checksums"));
}

TEST_F(KnownChecksumsTest, WithoutAFolderNothingIsKnown) {
  const KnownChecksums none;
  EXPECT_EQ(none.checksum_of(open(path_).bytes()), checksum_);
  EXPECT_FALSE(none.find(open(path_).bytes()));
}

TEST_F(KnownChecksumsTest, AFolderThatOthersCanWriteToIsIgnored) {
  checksums_.remember(open(path_).bytes(), checksum_);
  ASSERT_TRUE(checksums_.find(open(path_).bytes()));
  fs::permissions(dir_ / "runtime/checksums", fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(checksums_.find(open(path_).bytes()));
  fs::permissions(dir_ / "runtime/checksums", fs::perms::others_write, fs::perm_options::remove);
  fs::rename(dir_ / "runtime/checksums", dir_ / "elsewhere");
  fs::create_directory_symlink(dir_ / "elsewhere", dir_ / "runtime/checksums");
  EXPECT_FALSE(checksums_.find(open(path_).bytes()));
}

TEST_F(KnownChecksumsTest, ADamagedRecordIsUnknown) {
  checksums_.remember(open(path_).bytes(), checksum_);
  for (const auto& record : fs::directory_iterator(dir_ / "runtime/checksums")) {
    fs::resize_file(record.path(), 31);
  }
  EXPECT_FALSE(checksums_.find(open(path_).bytes()));
  EXPECT_EQ(checksums_.checksum_of(open(path_).bytes()), checksum_);
  EXPECT_EQ(checksums_.find(open(path_).bytes()), checksum_);
}

TEST_F(KnownChecksumsTest, TheFolderDoesNotGrowWithoutEnd) {
  fs::create_directories(dir_ / "runtime/checksums");
  for (uint64_t i = 0; i < 4096; ++i) {
    dir_.write("runtime/checksums/" + to_hex({.high = 0, .low = i}), "");
  }
  dir_.write("runtime/checksums/of somebody else", "");
  checksums_.remember(open(path_).bytes(), checksum_);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_ / "runtime/checksums"), {}), 2);
  EXPECT_EQ(checksums_.find(open(path_).bytes()), checksum_);
}

TEST(KnownChecksums, StandInTheUsersRuntimeFolder) {
  ASSERT_EQ(::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1), 0);
  EXPECT_EQ(KnownChecksums::default_folder(), "/run/user/7/ephost/checksums");
  ASSERT_EQ(::setenv("XDG_RUNTIME_DIR", "relative", 1), 0);
  EXPECT_EQ(KnownChecksums::default_folder(), "");
  ASSERT_EQ(::unsetenv("XDG_RUNTIME_DIR"), 0);
  EXPECT_EQ(KnownChecksums::default_folder(), "");
}

}  // namespace
}  // namespace ephost::known_checksums_test
