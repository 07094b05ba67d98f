#include "host/plugin/loading/system_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "tests/support/temp_directory.h"

namespace ephost::plugin::system_libraries_test {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(SystemLibraries, AreInTheFoldersOfTheSystem) {
  const auto folders = system_library_folders("/does/not/exist");
  EXPECT_THAT(folders, Contains("/lib"));
  EXPECT_THAT(folders, Contains("/usr/lib"));
  EXPECT_THAT(folders, Not(Contains("/usr/local/lib")));
}

TEST(SystemLibraries, AreInTheFoldersThatLdconfigHas) {
  const test::TempDirectory directory;
  directory.write("conf.d/one.conf", "# a comment\n  /opt/one/lib # another\n/opt/two/lib\n");
  directory.write("conf.d/two.txt", "/opt/three/lib\n");
  directory.write("ld.so.conf", "include conf.d/*.conf\nhwcap 0 nosegneg\nrelative/lib\n");
  const auto folders = system_library_folders(directory / "ld.so.conf");
  EXPECT_THAT(folders, Contains("/opt/one/lib"));
  EXPECT_THAT(folders, Contains("/opt/two/lib"));
  EXPECT_THAT(folders, Not(Contains("/opt/three/lib")));
  EXPECT_THAT(folders, Not(Contains("relative/lib")));
}

TEST(SystemLibraries, MayIncludeThemselves) {
  const test::TempDirectory directory;
  directory.write("ld.so.conf", "include ld.so.conf\n/opt/one/lib\n");
  EXPECT_THAT(system_library_folders(directory / "ld.so.conf"), Contains("/opt/one/lib"));
}

TEST(SystemLibraries, AreKnownByTheirPaths) {
  EXPECT_TRUE(is_system_library("/usr/lib/libany.so.1"));
  EXPECT_FALSE(is_system_library("/usr/library/libany.so.1"));
  EXPECT_FALSE(is_system_library("libany.so.1"));
  EXPECT_FALSE(is_system_library("lib/libany.so.1"));
}

TEST(SystemLibraries, DoNotLieBehindAWayOutOfTheirFolders) {
  const test::TempDirectory directory;
  const std::filesystem::path file = directory.write("libany.so", "");
  EXPECT_FALSE(is_system_library(std::filesystem::path("/usr/lib/../..") / file.relative_path()));
}

}  // namespace
}  // namespace ephost::plugin::system_libraries_test
