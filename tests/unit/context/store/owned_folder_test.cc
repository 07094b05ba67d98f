#include "host/context/store/owned_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/status_matchers.h"
#include "tests/unit/context/store/store_samples.h"

namespace ephost::context::owned_folder_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using test::TempDirectory;
using testing::content_of;
using ::testing::ElementsAre;
using testing::files_in;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const FileSystem& system() { return posix_file_system(); }

TEST(OwnedFolder, AStoreHasATagThatBackupProgramsKnow) {
  const TempDirectory dir;
  const fs::path store = dir / "deep/store";
  EXPECT_FALSE(*is_store(store, system()));
  ASSERT_THAT(make_store(store, system()), IsOk());
  EXPECT_TRUE(*is_store(store, system()));
  EXPECT_THAT(files_in(store), ElementsAre("CACHEDIR.TAG"));
  EXPECT_THAT(content_of(store / "CACHEDIR.TAG"),
              StartsWith("Signature: 8a477f597d28d172789f06886806bc55\n"));
  EXPECT_THAT(make_store(store, system()), IsOk());
}

TEST(OwnedFolder, AnEmptyFolderBecomesAStore) {
  const TempDirectory dir;
  EXPECT_FALSE(*is_store(dir.path(), system()));
  ASSERT_THAT(make_store(dir.path(), system()), IsOk());
  EXPECT_TRUE(*is_store(dir.path(), system()));
}

TEST(OwnedFolder, AFolderWithAHalfWrittenTagBecomesAStore) {
  const TempDirectory dir;
  dir.write(".ephost-123-4.tmp", "Signat");
  EXPECT_FALSE(*is_store(dir.path(), system()));
  ASSERT_THAT(make_store(dir.path(), system()), IsOk());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("CACHEDIR.TAG"));
}

// The refusal by both `is_store` and `make_store`. Expects that the folder stays unchanged.
std::string refusal_of(const fs::path& folder) {
  const std::vector<std::string> before = files_in(folder);
  const Status status = make_store(folder, system());
  EXPECT_EQ(status.code(), StatusCode::kFail);
  EXPECT_EQ(is_store(folder, system()).status().message(), status.message());
  EXPECT_EQ(files_in(folder), before);
  return status.message();
}

TEST(OwnedFolder, AFolderThatIsNotEmptyIsNotAStore) {
  const TempDirectory dir;
  dir.write("notes.txt", "mine");
  EXPECT_THAT(refusal_of(dir.path()), HasSubstr("it is not empty, and has no CACHEDIR.TAG"));
}

TEST(OwnedFolder, ACacheOfAnotherProgramIsNotAStore) {
  const TempDirectory dir;
  dir.write("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# of a browser\n");
  EXPECT_THAT(refusal_of(dir.path()), HasSubstr("belongs to another program"));
}

TEST(OwnedFolder, AStoreOfAnotherFormatIsRefused) {
  const TempDirectory dir;
  ASSERT_THAT(make_store(dir.path(), system()), IsOk());
  std::string tag = content_of(dir / "CACHEDIR.TAG");
  tag.replace(tag.find("format 2"), 8, "format 31");
  dir.write("CACHEDIR.TAG", tag);
  EXPECT_THAT(refusal_of(dir.path()), HasSubstr("it has the format \"31\""));
}

TEST(OwnedFolder, OnlyAMarkedFolderIsRemovedWithItsContent) {
  const TempDirectory dir;
  dir.write("marked/inner/file", "ours");
  ASSERT_THAT(mark_folder(dir / "marked", system()), IsOk());
  dir.write("mine/file", "mine");
  fs::create_directory(dir / "empty");
  dir.write("started/.ephost-123-4.tmp", "This");
  for (const char* name : {"marked", "mine", "empty", "started", "nowhere"}) {
    remove_folder(dir / name, system());
  }
  EXPECT_THAT(files_in(dir.path()), ElementsAre("mine"));
  EXPECT_EQ(content_of(dir / "mine/file"), "mine");
}

TEST(OwnedFolder, AMarkerMustHaveTheRightContent) {
  const TempDirectory dir;
  dir.write("ephost-cache-folder", "mine");
  EXPECT_FALSE(is_marked(dir.path(), system()));
  ASSERT_THAT(mark_folder(dir.path(), system()), IsOk());
  EXPECT_TRUE(is_marked(dir.path(), system()));
  dir.write("ephost-cache-folder", content_of(dir / "ephost-cache-folder") + "and mine");
  EXPECT_FALSE(is_marked(dir.path(), system()));
}

TEST(OwnedFolder, RemovalFollowsNoLink) {
  const TempDirectory dir;
  const TempDirectory elsewhere;
  elsewhere.write("precious", "mine");
  ASSERT_THAT(mark_folder(elsewhere.path(), system()), IsOk());
  fs::create_directory(dir / "folder");
  ASSERT_THAT(mark_folder(dir / "folder", system()), IsOk());
  fs::create_directory_symlink(elsewhere.path(), dir / "folder/link");
  fs::create_directory_symlink(elsewhere.path(), dir / "link");
  fs::create_symlink(elsewhere / "precious", dir / "folder/precious");
  remove_folder(dir / "folder", system());
  remove_folder(dir / "link", system());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("link"));
  EXPECT_THAT(files_in(elsewhere.path()), ElementsAre(kFolderMarkerName, "precious"));
}

// Pretends that folders below the first one are on another file system.
class MountedFileSystem : public PosixFileSystem {
 public:
  int openat(int directory, const char* name, int flags) const override {
    const int descriptor = PosixFileSystem::openat(directory, name, flags);
    inner_.insert(descriptor);
    return descriptor;
  }
  int fstat(int descriptor, struct stat* out_info) const override {
    const int outcome = PosixFileSystem::fstat(descriptor, out_info);
    if (inner_.contains(descriptor)) ++out_info->st_dev;
    return outcome;
  }
  int close(int descriptor) const override {
    inner_.erase(descriptor);
    return PosixFileSystem::close(descriptor);
  }

 private:
  mutable std::set<int> inner_;
};

TEST(OwnedFolder, RemovalStaysInOneFileSystem) {
  const TempDirectory dir;
  dir.write("folder/mounted/precious", "mine");
  dir.write("folder/file", "ours");
  ASSERT_THAT(mark_folder(dir / "folder", system()), IsOk());
  remove_folder(dir / "folder", MountedFileSystem());
  EXPECT_EQ(content_of(dir / "folder/mounted/precious"), "mine");
  EXPECT_THAT(files_in(dir / "folder"), ElementsAre(kFolderMarkerName, "mounted"));
}

}  // namespace
}  // namespace ephost::context::owned_folder_test
