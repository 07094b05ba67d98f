#include "host/base/files/folders/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::temporary_folder_test {
namespace {

using test::IsOk;

TEST(TemporaryFolder, IsRemovedWithItsContent) {
  std::filesystem::path path;
  {
    const auto folder = TemporaryFolder::create();
    ASSERT_THAT(folder, IsOk());
    path = folder->path();
    std::filesystem::create_directories(path / "inner");
    std::ofstream(path / "inner" / "file") << "x";
    EXPECT_TRUE(std::filesystem::exists(path / "inner" / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryFolder, KeepsWhatALinkInItLeadsTo) {
  const test::TempDirectory other;
  const std::filesystem::path kept = other.write("kept", "x");
  {
    const auto folder = TemporaryFolder::create();
    ASSERT_THAT(folder, IsOk());
    std::filesystem::create_directory_symlink(other.path(), folder->path() / "link");
  }
  EXPECT_TRUE(std::filesystem::exists(kept));
}

}  // namespace
}  // namespace ephost::temporary_folder_test
