#include "host/base/files/folders/open_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"

namespace ephost::open_folder_test {
namespace {

namespace fs = std::filesystem;

TEST(OpenFolder, IsNeitherALinkNorAFile) {
  const test::TempDirectory dir;
  dir.write("folder/file", "abc");
  fs::create_directory_symlink(dir / "folder", dir / "link");
  EXPECT_TRUE(OpenFolder(dir / "folder", posix_file_system()).is_open());
  for (const char* const other : {"link", "folder/file", "none"}) {
    EXPECT_FALSE(OpenFolder(dir / other, posix_file_system()).is_open()) << other;
  }
}

TEST(OpenFolder, ReadsTheStartOfAFileButFollowsNoLink) {
  const test::TempDirectory dir;
  fs::create_symlink(dir.write("file", "abc"), dir / "link");
  const OpenFolder folder(dir.path(), posix_file_system());
  EXPECT_EQ(folder.read_start("file", 2), "ab");
  EXPECT_EQ(folder.read_start("file", 9), "abc");
  EXPECT_EQ(folder.read_start("link", 9), std::nullopt);
  EXPECT_EQ(folder.read_start("none", 9), std::nullopt);
}

TEST(OpenFolder, RemovesItsContentAndNothingThatLinksLeadTo) {
  const test::TempDirectory other;
  const fs::path kept = other.write("kept", "x");
  const test::TempDirectory dir;
  dir.write("spared", "x");
  dir.write("a/b/c/file", "x");
  fs::create_directory_symlink(other.path(), dir / "a/link");
  const OpenFolder folder(dir.path(), posix_file_system());
  EXPECT_TRUE(folder.remove_content("spared"));
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_TRUE(fs::exists(dir / "spared"));
  EXPECT_FALSE(fs::exists(dir / "a"));
  folder.remove_file("spared");
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(OpenFolder, LeavesWhatLiesTooDeep) {
  const test::TempDirectory dir;
  dir.write("1/2/3/4/5/6/7/8/9/10/file", "x");
  EXPECT_FALSE(OpenFolder(dir.path(), posix_file_system()).remove_content(""));
  EXPECT_TRUE(fs::exists(dir / "1/2/3/4/5/6/7/8/9/10/file"));
}

}  // namespace
}  // namespace ephost::open_folder_test
