#include "host/base/files/folders/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/files/file_descriptor.h"
#include "host/base/files/file_system.h"
#include "tests/support/temp_directory.h"

namespace ephost::directory_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ListDirectory, GivesTheNamesInOrder) {
  const test::TempDirectory dir;
  dir.write("b", "");
  dir.write(".hidden", "");
  dir.write("a/inside", "");
  std::error_code error = std::make_error_code(std::errc::io_error);
  EXPECT_THAT(list_directory(dir.path(), error), ElementsAre(".hidden", "a", "b"));
  EXPECT_FALSE(error);
}

TEST(ListDirectory, SaysWhyAFolderCannotBeRead) {
  const test::TempDirectory dir;
  std::error_code error;
  EXPECT_THAT(list_directory(dir / "none", error), IsEmpty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_THAT(list_directory(dir.write("file", ""), error), IsEmpty());
  EXPECT_EQ(error, std::errc::not_a_directory);
}

TEST(ListDirectory, ReadsAnOpenFolderAgainAndAgain) {
  const test::TempDirectory dir;
  dir.write("b", "");
  dir.write("a/inside", "");
  const FileDescriptor folder(posix_file_system().open_folder(dir.path().c_str()));
  EXPECT_THAT(list_directory(folder.get()), ElementsAre("a", "b"));
  EXPECT_THAT(list_directory(folder.get()), ElementsAre("a", "b"));
  EXPECT_THAT(list_directory(-1), IsEmpty());
}

}  // namespace
}  // namespace ephost::directory_test
