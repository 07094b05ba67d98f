#include "host/base/contained_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/support/temp_directory.h"

namespace ephost {
namespace {

namespace fs = std::filesystem;
using test::TempDirectory;
using testing::HasSubstr;

void expect_refused(const fs::path& base, std::string_view path, std::string_view reason) {
  const Result<fs::path> result = resolve_contained(base, path, StatusCode::kInvalidGraph);
  ASSERT_FALSE(result.ok()) << path << " resolved to " << *result;
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(result.status().message(), HasSubstr(reason));
  EXPECT_THAT(result.status().message(), HasSubstr("name a file inside that folder"));
}

TEST(ContainedPath, ResolvesAFileInTheFolder) {
  TempDirectory dir;
  const fs::path file = dir.write("sub/weights.bin", "x");
  const Result<fs::path> result =
      resolve_contained(dir.path(), "sub/./weights.bin", StatusCode::kInvalidGraph);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ(*result, file);
}

TEST(ContainedPath, AcceptsDotsInsideAName) {
  TempDirectory dir;
  dir.write("a..b.bin", "x");
  dir.write("...", "x");
  EXPECT_TRUE(resolve_contained(dir.path(), "a..b.bin", StatusCode::kFail).ok());
  EXPECT_TRUE(resolve_contained(dir.path(), "...", StatusCode::kFail).ok());
}

TEST(ContainedPath, AcceptsNamesOfAnyScript) {
  TempDirectory dir;
  const fs::path file = dir.write("модель_模型.bin", "x");
  const Result<fs::path> result =
      resolve_contained(dir.path(), "модель_模型.bin", StatusCode::kFail);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, file);
}

TEST(ContainedPath, LeavesAMissingFileToTheCaller) {
  TempDirectory dir;
  const Result<fs::path> result = resolve_contained(dir.path(), "new.bin", StatusCode::kFail);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, dir / "new.bin");
}

TEST(ContainedPath, TakesAnEmptyFolderAsTheCurrentOne) {
  const Result<fs::path> result = resolve_contained("", "new.bin", StatusCode::kFail);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, fs::canonical(".") / "new.bin");
}

TEST(ContainedPath, FollowsALinkInsideTheFolder) {
  TempDirectory dir;
  const fs::path file = dir.write("lib.so.1", "x");
  fs::create_symlink("lib.so.1", dir / "lib.so");
  const Result<fs::path> result = resolve_contained(dir.path(), "lib.so", StatusCode::kFail);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, file);
}

TEST(ContainedPath, FollowsALinkAboveTheFolder) {
  TempDirectory dir;
  const fs::path file = dir.write("real/x.bin", "x");
  fs::create_directory_symlink("real", dir / "alias");
  const Result<fs::path> result = resolve_contained(dir / "alias", "x.bin", StatusCode::kFail);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, file);
}

TEST(ContainedPath, RefusesAnEmptyPath) {
  TempDirectory dir;
  expect_refused(dir.path(), "", "it is empty");
}

TEST(ContainedPath, RefusesAnAbsolutePath) {
  TempDirectory dir;
  dir.write("x.bin", "x");
  expect_refused(dir.path(), (dir / "x.bin").native(), "it is absolute");
}

TEST(ContainedPath, RefusesAParentComponentEvenWhenItStaysInside) {
  TempDirectory dir;
  dir.write("x.bin", "x");
  expect_refused(dir.path(), "../x.bin", "\"..\" component");
  expect_refused(dir.path(), "sub/../x.bin", "\"..\" component");
  expect_refused(dir.path(), "sub/..", "\"..\" component");
}

TEST(ContainedPath, RefusesANulByte) {
  TempDirectory dir;
  expect_refused(dir.path(), std::string_view("x.bin\0/../y", 11), "NUL byte");
}

TEST(ContainedPath, RefusesALinkThatLeavesTheFolder) {
  TempDirectory dir;
  dir.write("secret", "x");
  fs::create_directory(dir / "model");
  fs::create_symlink("../secret", dir / "model/x.bin");
  fs::create_directory_symlink("..", dir / "model/up");
  expect_refused(dir / "model", "x.bin", "leads out of the folder");
  expect_refused(dir / "model", "up/secret", "leads out of the folder");
}

TEST(ContainedPath, RefusesAFolderWhoseNameMerelyBeginsLikeTheBase) {
  TempDirectory dir;
  dir.write("model-other/x.bin", "x");
  fs::create_directory(dir / "model");
  fs::create_symlink("../model-other/x.bin", dir / "model/x.bin");
  expect_refused(dir / "model", "x.bin", "leads out of the folder");
}

TEST(ContainedPath, RefusesALinkToAMissingFile) {
  TempDirectory dir;
  fs::create_directory(dir / "model");
  fs::create_symlink(dir / "later", dir / "model/x.bin");
  expect_refused(dir / "model", "x.bin", "symbolic link to a missing file");
}

TEST(ContainedPath, RefusesALinkToItself) {
  TempDirectory dir;
  fs::create_symlink("x.bin", dir / "x.bin");
  EXPECT_FALSE(resolve_contained(dir.path(), "x.bin", StatusCode::kInvalidGraph).ok());
}

TEST(ContainedPath, RefusesADirectory) {
  TempDirectory dir;
  fs::create_directory(dir / "sub");
  expect_refused(dir.path(), "sub", "it is a directory");
  expect_refused(dir.path(), ".", "it is a directory");
}

TEST(ContainedPath, RefusesAPipe) {
  TempDirectory dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  expect_refused(dir.path(), "pipe", "no regular file");
}

TEST(ContainedPath, ReportsAMissingFolderAsSuch) {
  TempDirectory dir;
  const Result<fs::path> result =
      resolve_contained(dir / "none", "x.bin", StatusCode::kInvalidGraph);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kNoSuchFile);
}

TEST(ContainedPath, RefusesANameThatIsTooLong) {
  TempDirectory dir;
  EXPECT_FALSE(
      resolve_contained(dir.path(), std::string(5000, 'x'), StatusCode::kInvalidGraph).ok());
}

}  // namespace
}  // namespace ephost
