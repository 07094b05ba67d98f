#include "host/context/write/publication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "host/context/file_names.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"

namespace ephost::context::publication_test {
namespace {

using test::IsOk;
using test::TempDirectory;
using testing::content_of;
using ::testing::ElementsAre;
using testing::files_in;

ContentChecksum checksum_of(std::string_view text) {
  return {.hash = content_checksum(as_bytes(text)), .size = text.size()};
}

// A file system without hard links.
class LinklessFileSystem : public PosixFileSystem {
 public:
  int link(const char*, const char*) const override {
    errno = EPERM;
    return -1;
  }
};

AtomicFile staged(const TempDirectory& dir, std::string_view name, std::string_view content) {
  Result<AtomicFile> file = AtomicFile::create(dir / name);
  EXPECT_THAT(file, IsOk());
  EXPECT_THAT(file->append(as_bytes(content)), IsOk());
  return std::move(*file);
}

// Each allocation in turn is the first that fails. What is published stays published.
TEST(Publication, SucceedsWhenMemoryRunsOutAfterIt) {
  for (uint64_t enough = 0; enough < 60; ++enough) {
    const TempDirectory dir;
    dir.write("a.bin", "old");
    AtomicFile binary = staged(dir, "a.bin", "new");
    Result<Publication> publication = Publication::begin(dir.path(), {}, posix_file_system());
    ASSERT_THAT(publication, IsOk());
    ASSERT_THAT(publication->publish(binary, checksum_of("new")), IsOk());
    {
      const test::FailingAllocations failing(enough);
      publication->finish();
    }
    EXPECT_EQ(content_of(dir / "a.bin"), "new");
  }
}

TEST(Publication, KeepsTheOldFileUntilTheLastFileIsInPlace) {
  for (const bool has_links : {true, false}) {
    const LinklessFileSystem linkless;
    const FileSystem& file_system = has_links ? posix_file_system() : linkless;
    const TempDirectory dir;
    dir.write("a.bin", "old");
    AtomicFile binary = staged(dir, "a.bin", "new");
    AtomicFile model = staged(dir, "a.onnx", "model");
    Result<Publication> publication = Publication::begin(dir.path(), {}, file_system);
    ASSERT_THAT(publication, IsOk());
    ASSERT_THAT(publication->publish(binary, checksum_of("new")), IsOk());
    EXPECT_EQ(content_of(dir / "a.bin"), "new");
    EXPECT_EQ(content_of(dir / superseded_name("a.bin", to_hex(checksum_of("old").hash))), "old");
    ASSERT_THAT(publication->publish_last(model), IsOk());
    EXPECT_THAT(files_in(dir.path()), ElementsAre("a.bin", "a.onnx"));
  }
}

TEST(Publication, RestoresTheOldFilesIfTheLastFileNeverComes) {
  for (const bool has_links : {true, false}) {
    const LinklessFileSystem linkless;
    const FileSystem& file_system = has_links ? posix_file_system() : linkless;
    const TempDirectory dir;
    dir.write("a.bin", "old");
    {
      AtomicFile replaced = staged(dir, "a.bin", "new");
      AtomicFile added = staged(dir, "b.bin", "new");
      Result<Publication> publication = Publication::begin(dir.path(), {}, file_system);
      ASSERT_THAT(publication, IsOk());
      ASSERT_THAT(publication->publish(replaced, checksum_of("new")), IsOk());
      ASSERT_THAT(publication->publish(added, checksum_of("new")), IsOk());
    }
    EXPECT_THAT(files_in(dir.path()), ElementsAre("a.bin"));
    EXPECT_EQ(content_of(dir / "a.bin"), "old");
  }
}

TEST(Publication, WaitsForAnotherPublicationIntoTheFolder) {
  const TempDirectory dir;
  std::atomic<bool> began = false;
  std::thread other;
  {
    const Result<Publication> first = Publication::begin(dir.path(), {}, posix_file_system());
    ASSERT_THAT(first, IsOk());
    other = std::thread([&] {
      const Result<Publication> second = Publication::begin(dir.path(), {}, posix_file_system());
      began = second.ok();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(began);
  }
  other.join();
  EXPECT_TRUE(began);
}

TEST(Publication, LeavesAFileOfTheSameContentAlone) {
  const TempDirectory dir;
  dir.write("a.bin", "same");
  const auto before = std::filesystem::last_write_time(dir / "a.bin");
  struct stat old {};
  ASSERT_EQ(::stat((dir / "a.bin").c_str(), &old), 0);
  {
    AtomicFile file = staged(dir, "a.bin", "same");
    Result<Publication> publication = Publication::begin(dir.path(), {}, posix_file_system());
    ASSERT_THAT(publication, IsOk());
    ASSERT_THAT(publication->publish(file, checksum_of("same")), IsOk());
    publication->finish();
  }
  struct stat now {};
  ASSERT_EQ(::stat((dir / "a.bin").c_str(), &now), 0);
  EXPECT_EQ(now.st_ino, old.st_ino);
  EXPECT_EQ(std::filesystem::last_write_time(dir / "a.bin"), before);
  EXPECT_THAT(files_in(dir.path()), ElementsAre("a.bin"));
}

TEST(Publication, RemovesSupersededFilesThatACrashLeft) {
  const TempDirectory dir;
  dir.write(superseded_name("a.bin", to_hex(checksum_of("of a crash").hash)), "of a crash");
  dir.write("a.bin.notes", "of somebody");
  AtomicFile file = staged(dir, "a.bin", "new");
  Result<Publication> publication = Publication::begin(dir.path(), {}, posix_file_system());
  ASSERT_THAT(publication, IsOk());
  ASSERT_THAT(publication->publish(file, checksum_of("new")), IsOk());
  publication->finish();
  EXPECT_THAT(files_in(dir.path()), ElementsAre("a.bin", "a.bin.notes"));
}

TEST(Publication, KeepsAFileThatMerelyHasTheNameOfASupersededOne) {
  const TempDirectory dir;
  const std::string name = superseded_name("a.bin", std::string(32, '0'));
  dir.write(name, "of somebody");
  AtomicFile file = staged(dir, "a.bin", "new");
  Result<Publication> publication = Publication::begin(dir.path(), {}, posix_file_system());
  ASSERT_THAT(publication, IsOk());
  ASSERT_THAT(publication->publish(file, checksum_of("new")), IsOk());
  publication->finish();
  EXPECT_THAT(files_in(dir.path()), ElementsAre("a.bin", name));
  EXPECT_EQ(content_of(dir / name), "of somebody");
}

TEST(Publication, SetsNothingAsideUnderANameThatIsTaken) {
  const TempDirectory dir;
  dir.write("a.bin", "old");
  const std::string name = superseded_name("a.bin", to_hex(checksum_of("old").hash));
  dir.write(name, "of somebody");
  AtomicFile file = staged(dir, "a.bin", "new");
  Result<Publication> publication = Publication::begin(dir.path(), {}, posix_file_system());
  ASSERT_THAT(publication, IsOk());
  const Status status = publication->publish(file, checksum_of("new"));
  EXPECT_EQ(status.code(), StatusCode::kFail);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("is another file"));
  EXPECT_EQ(content_of(dir / "a.bin"), "old");
  EXPECT_EQ(content_of(dir / name), "of somebody");
}

}  // namespace
}  // namespace ephost::context::publication_test
