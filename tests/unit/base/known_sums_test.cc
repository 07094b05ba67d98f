#include "host/base/known_sums.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "host/base/file.h"
#include "tests/support/temp_directory.h"

namespace ephost {
namespace {

namespace fs = std::filesystem;
using test::TempDirectory;

// Times of the last change cannot be set; here every file looks older than it is.
class AgedFileSystem : public PosixFileSystem {
 public:
  explicit AgedFileSystem(time_t seconds) : seconds_(seconds) {}
  int fstat(int descriptor, struct stat* out_info) const override {
    const int outcome = PosixFileSystem::fstat(descriptor, out_info);
    out_info->st_ctim.tv_sec -= seconds_;
    return outcome;
  }

 private:
  time_t seconds_;
};

const AgedFileSystem kHourOld(3600);
constexpr size_t kLarge = size_t{2} << 20;

MappedFile open(const fs::path& path, const FileSystem& file_system = kHourOld) {
  return *MappedFile::open(path, file_system);
}

class KnownSumsTest : public testing::Test {
 protected:
  TempDirectory dir_;
  fs::path path_ = dir_.write("data", std::string(kLarge, 'a'));
  KnownSums sums_{dir_ / "runtime/sums"};
  Hash128 sum_ = content_sum(as_bytes(std::string(kLarge, 'a')));
};

TEST_F(KnownSumsTest, AreFoundByEverybodyWhoMapsTheVersion) {
  EXPECT_FALSE(sums_.find(open(path_).bytes()));
  EXPECT_EQ(sums_.sum_of(open(path_).bytes()), sum_);
  EXPECT_EQ(KnownSums(dir_ / "runtime/sums").find(open(path_).bytes()), sum_);
  fs::create_hard_link(path_, dir_ / "link");
  EXPECT_FALSE(sums_.find(open(dir_.write("other", std::string(kLarge, 'a'))).bytes()));
}

TEST_F(KnownSumsTest, AreNotRememberedOfWhatWasCancelled) {
  const std::atomic<bool> cancelled = true;
  const fs::path path = dir_.write("large", std::string(size_t{40} << 20, 'a'));
  const auto sum = sums_.sum_of(open(path).bytes(), Cancellation(&cancelled));
  EXPECT_EQ(sum.status().code(), StatusCode::kModelLoadCanceled);
  EXPECT_FALSE(sums_.find(open(path).bytes()));
}

// Proves that the record is what counts: nothing would take this sum.
TEST_F(KnownSumsTest, AreNotTakenAgain) {
  const Hash128 invented{.high = 1, .low = 2};
  sums_.remember(open(path_).bytes(), invented);
  EXPECT_EQ(sums_.sum_of(open(path_).bytes()), invented);
}

TEST_F(KnownSumsTest, PartsOfAFileHaveTheirOwn) {
  const MappedFile file = open(path_);
  const auto half = file.bytes().subspan(kLarge / 2);
  EXPECT_EQ(sums_.sum_of(half), content_sum(half));
  EXPECT_FALSE(sums_.find(file.bytes()));
  EXPECT_EQ(sums_.find(half), content_sum(half));
}

TEST_F(KnownSumsTest, AChangedFileIsUnknown) {
  sums_.remember(open(path_).bytes(), sum_);
  // In place, with the same size, and with its time of modification set back.
  const auto modified = fs::last_write_time(path_);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000).put('b');
  }
  fs::last_write_time(path_, modified);
  EXPECT_FALSE(sums_.find(open(path_).bytes()));
}

TEST_F(KnownSumsTest, AFileThatChangedJustNowIsNotRecorded) {
  EXPECT_EQ(sums_.sum_of(open(path_, AgedFileSystem(0)).bytes()), sum_);
  EXPECT_FALSE(fs::exists(dir_ / "runtime/sums"));
  // A second is not enough, as some file systems count in seconds.
  EXPECT_EQ(sums_.sum_of(open(path_, AgedFileSystem(1)).bytes()), sum_);
  EXPECT_FALSE(fs::exists(dir_ / "runtime/sums"));
}

TEST_F(KnownSumsTest, SmallOrForeignBytesAreNotRecorded) {
  const std::string own(kLarge, 'a');
  EXPECT_EQ(sums_.sum_of(as_bytes(own)), sum_);
  EXPECT_EQ(sums_.sum_of(open(dir_.write("small", "x")).bytes()), content_sum(as_bytes("x")));
  EXPECT_FALSE(fs::exists(dir_ / "runtime/sums"));
}

TEST_F(KnownSumsTest, WithoutAFolderNothingIsKnown) {
  const KnownSums none;
  EXPECT_EQ(none.sum_of(open(path_).bytes()), sum_);
  EXPECT_FALSE(none.find(open(path_).bytes()));
}

TEST_F(KnownSumsTest, AFolderThatOthersCanWriteToIsIgnored) {
  sums_.remember(open(path_).bytes(), sum_);
  ASSERT_TRUE(sums_.find(open(path_).bytes()));
  fs::permissions(dir_ / "runtime/sums", fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(sums_.find(open(path_).bytes()));
  fs::permissions(dir_ / "runtime/sums", fs::perms::others_write, fs::perm_options::remove);
  fs::rename(dir_ / "runtime/sums", dir_ / "elsewhere");
  fs::create_directory_symlink(dir_ / "elsewhere", dir_ / "runtime/sums");
  EXPECT_FALSE(sums_.find(open(path_).bytes()));
}

TEST_F(KnownSumsTest, ADamagedRecordIsUnknown) {
  sums_.remember(open(path_).bytes(), sum_);
  for (const auto& record : fs::directory_iterator(dir_ / "runtime/sums")) {
    fs::resize_file(record.path(), 31);
  }
  EXPECT_FALSE(sums_.find(open(path_).bytes()));
  EXPECT_EQ(sums_.sum_of(open(path_).bytes()), sum_);
  EXPECT_EQ(sums_.find(open(path_).bytes()), sum_);
}

TEST_F(KnownSumsTest, TheFolderDoesNotGrowWithoutEnd) {
  fs::create_directories(dir_ / "runtime/sums");
  for (uint64_t i = 0; i < 4096; ++i) {
    dir_.write("runtime/sums/" + to_hex({.high = 0, .low = i}), "");
  }
  dir_.write("runtime/sums/of somebody else", "");
  sums_.remember(open(path_).bytes(), sum_);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_ / "runtime/sums"), {}), 2);
  EXPECT_EQ(sums_.find(open(path_).bytes()), sum_);
}

TEST(KnownSums, StandInTheUsersRuntimeFolder) {
  ASSERT_EQ(::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1), 0);
  EXPECT_EQ(KnownSums::default_folder(), "/run/user/7/ephost/sums");
  ASSERT_EQ(::setenv("XDG_RUNTIME_DIR", "relative", 1), 0);
  EXPECT_EQ(KnownSums::default_folder(), "");
  ASSERT_EQ(::unsetenv("XDG_RUNTIME_DIR"), 0);
  EXPECT_EQ(KnownSums::default_folder(), "");
}

}  // namespace
}  // namespace ephost
