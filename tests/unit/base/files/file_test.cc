#include "host/base/files/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "tests/support/faulty_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::file_test {
namespace {

namespace fs = std::filesystem;
using test::FaultyFileSystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::HasSubstr;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(MappedFile, ShowsTheBytes) {
  TempDirectory dir;
  const Result<MappedFile> file = MappedFile::open(dir.write("a", std::string("a\0b", 3)));
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(text_of(file->bytes()), std::string("a\0b", 3));
  EXPECT_EQ(file->path(), dir / "a");
}

TEST(MappedFile, MapsAnEmptyFileToAnEmptySpan) {
  TempDirectory dir;
  const Result<MappedFile> file = MappedFile::open(dir.write("a", ""));
  ASSERT_THAT(file, IsOk());
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, KeepsTheAddressWhenMoved) {
  TempDirectory dir;
  Result<MappedFile> first = MappedFile::open(dir.write("a", "one"));
  Result<MappedFile> second = MappedFile::open(dir.write("b", "two"));
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  const std::byte* address = first->bytes().data();
  *second = std::move(*first);
  MappedFile third(std::move(*second));
  EXPECT_EQ(third.bytes().data(), address);
  EXPECT_EQ(text_of(third.bytes()), "one");
}

TEST(MappedFile, OutlivesTheNameOfTheFile) {
  TempDirectory dir;
  const Result<MappedFile> file = MappedFile::open(dir.write("a", "one"));
  ASSERT_THAT(file, IsOk());
  fs::remove(dir / "a");
  EXPECT_EQ(text_of(file->bytes()), "one");
}

TEST(MappedFile, SaysThatTheFileIsMissing) {
  TempDirectory dir;
  const Result<MappedFile> file = MappedFile::open(dir / "none");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kNoSuchFile);
  EXPECT_THAT(file.status().message(), HasSubstr("none"));
}

TEST(MappedFile, RefusesADirectory) {
  TempDirectory dir;
  const Result<MappedFile> file = MappedFile::open(dir.path());
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.status().message(), HasSubstr("is a directory; give a regular file"));
}

TEST(MappedFile, RefusesADevice) {
  const Result<MappedFile> file = MappedFile::open("/dev/zero");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.status().message(), HasSubstr("device, pipe or socket"));
}

TEST(MappedFile, RefusesAPipeWithoutWaitingForAWriter) {
  TempDirectory dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const Result<MappedFile> file = MappedFile::open(dir / "pipe");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
}

TEST(MappedFile, RefusesAPathWithANulByte) {
  TempDirectory dir;
  dir.write("a", "one");
  const Result<MappedFile> file =
      MappedFile::open(fs::path((dir / "a").native() + std::string("\0x", 2)));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.status().message(), HasSubstr("NUL byte"));
}

TEST(MappedFile, ReportsEachFailingOperation) {
  TempDirectory dir;
  const fs::path path = dir.write("a", "one");
  for (int n = 0; n < 3; ++n) {
    FaultyFileSystem faulty;
    faulty.fail_at = n;
    const Result<MappedFile> file = MappedFile::open(path, faulty);
    ASSERT_FALSE(file.ok()) << "operation " << n;
    EXPECT_EQ(file.status().code(), StatusCode::kFail);
    EXPECT_THAT(file.status().message(), HasSubstr(path.native()));
  }
}

TEST(ReadFile, ReadsTheWholeFileInSmallPieces) {
  TempDirectory dir;
  std::string content;
  for (int i = 0; i < 20000; ++i) content += std::to_string(i);
  const fs::path path = dir.write("a", content);
  FaultyFileSystem slow;
  slow.most_bytes_per_call = 1000;
  const Result<std::string> read = read_file(path, kNoSizeLimit, slow);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(*read, content);
}

TEST(ReadFile, TriesAgainWhenInterrupted) {
  TempDirectory dir;
  const fs::path path = dir.write("a", "one");
  for (const int n : {0, 2}) {
    FaultyFileSystem faulty;
    faulty.fail_at = n;
    faulty.error = EINTR;
    const Result<std::string> read = read_file(path, kNoSizeLimit, faulty);
    ASSERT_THAT(read, IsOk()) << "operation " << n;
    EXPECT_EQ(*read, "one");
  }
}

TEST(ReadFile, ReadsAFileThatReportsASizeOfZero) {
  const Result<std::string> read = read_file("/proc/self/status");
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(*read, HasSubstr("Pid:"));
}

TEST(ReadFile, AcceptsExactlyTheLimit) {
  TempDirectory dir;
  EXPECT_THAT(read_file(dir.write("a", "12345"), 5), IsOk());
}

TEST(ReadFile, RefusesMoreThanTheLimit) {
  TempDirectory dir;
  const Result<std::string> read = read_file(dir.write("a", "123456"), 5);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(read.status().message(), HasSubstr("more than 5 bytes"));
}

TEST(ReadFile, RefusesMoreThanTheLimitWhenTheSizeIsUnknown) {
  EXPECT_FALSE(read_file("/proc/self/status", 5).ok());
}

TEST(ReadFile, ReportsAFailingRead) {
  TempDirectory dir;
  FaultyFileSystem faulty;
  faulty.fail_at = 2;
  const Result<std::string> read = read_file(dir.write("a", "one"), kNoSizeLimit, faulty);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("cannot read"));
}

TEST(InputFile, ReadsFrontToBack) {
  TempDirectory dir;
  Result<InputFile> opened = InputFile::open(dir.write("a", "abc"));
  ASSERT_THAT(opened, IsOk());
  InputFile file(std::move(*opened));
  EXPECT_EQ(file.size(), 3U);
  std::array<std::byte, 2> buffer{};
  EXPECT_EQ(file.read(buffer).value(), 2U);
  EXPECT_EQ(file.read(buffer).value(), 1U);
  EXPECT_EQ(text_of(std::span(buffer).first(1)), "c");
  EXPECT_EQ(file.read(buffer).value(), 0U);
}

}  // namespace
}  // namespace ephost::file_test
