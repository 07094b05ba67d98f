#include "host/base/files/operation_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/files/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::operation_files_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Whether `output` is refused beside an input, whichever of the two is stated first.
bool is_refused(const fs::path& input, const fs::path& output) {
  OperationFiles input_first;
  EXPECT_THAT(input_first.add_input(input, "the input"), IsOk());
  OperationFiles output_first;
  EXPECT_THAT(output_first.add_output(output, "the output"), IsOk());
  const bool refused = !input_first.add_output(output, "the output").ok();
  EXPECT_EQ(refused, !output_first.add_input(input, "the input").ok());
  return refused;
}

TEST(OperationFiles, RefuseAnOutputThatIsAnInput) {
  const test::TempDirectory dir;
  const fs::path file = dir.write("a", "content");
  EXPECT_TRUE(is_refused(file, file));
  EXPECT_TRUE(is_refused(file, dir.path() / "." / "a"));
  EXPECT_TRUE(is_refused(file, fs::relative(file)));
  EXPECT_FALSE(is_refused(file, dir.write("b", "content")));
  EXPECT_FALSE(is_refused(file, dir / "new"));
}

TEST(OperationFiles, SeeThroughLinks) {
  const test::TempDirectory dir;
  const fs::path file = dir.write("folder/a", "content");
  fs::create_symlink(file, dir / "symbolic");
  fs::create_hard_link(file, dir / "hard");
  fs::create_directory_symlink(dir / "folder", dir / "other");
  for (const std::string name : {"symbolic", "hard", "other/a"}) {
    EXPECT_TRUE(is_refused(file, dir / name)) << name;
    EXPECT_TRUE(is_refused(dir / name, file)) << name;
  }
}

TEST(OperationFiles, SayWhichFileWouldBeLost) {
  const test::TempDirectory dir;
  const fs::path file = dir.write("a", "content");
  OperationFiles files;
  ASSERT_THAT(files.add_input(file, "the external data"), IsOk());
  const Status status = files.add_output(dir.path() / "." / "a", "the profile");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("the profile"), HasSubstr("the external data"),
                                      HasSubstr(file.native()), HasSubstr("choose another path")));
}

TEST(OperationFiles, KnowAMappedFileThatWasMoved) {
  const test::TempDirectory dir;
  const fs::path file = dir.write("a", "content");
  const Result<MappedFile> mapped = MappedFile::open(file);
  ASSERT_THAT(mapped, IsOk());
  fs::rename(file, dir / "b");
  OperationFiles files;
  ASSERT_THAT(files.add_input(file, mapped->bytes(), "the model"), IsOk());
  EXPECT_EQ(files.add_output(dir / "b", "the output").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(files.add_output(file, "the output").code(), StatusCode::kInvalidArgument);
}

TEST(OperationFiles, IgnoreContentThatIsNotInAFile) {
  const test::TempDirectory dir;
  const std::string text = "content";
  OperationFiles files;
  ASSERT_THAT(files.add_input(dir / "a", as_bytes(text), "the model"), IsOk());
  EXPECT_THAT(files.add_output(dir / "a", "the output"), IsOk());
}

TEST(OperationFiles, RefuseTwoOutputsOfOneName) {
  const test::TempDirectory dir;
  fs::create_directory_symlink(dir.path(), dir / "link");
  OperationFiles files;
  ASSERT_THAT(files.add_output(dir / "new", "the output"), IsOk());
  const Status status = files.add_output(dir / "link/new", "the profile");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("are the same file"));
  EXPECT_THAT(files.add_output(dir / "newer", "the profile"), IsOk());
}

TEST(OperationFiles, TakeAnOutputThatBothOfTwoOperationsKnow) {
  const test::TempDirectory dir;
  OperationFiles files;
  ASSERT_THAT(files.add_output(dir / "new", "the output"), IsOk());
  OperationFiles others = files;
  EXPECT_THAT(others.add_all(files), IsOk());
  EXPECT_EQ(others.add_output(dir / "new", "the output").code(), StatusCode::kInvalidArgument);
}

TEST(OperationFiles, TakeADeviceForInputAndOutput) {
  EXPECT_FALSE(is_refused("/dev/zero", "/dev/null"));
}

TEST(OperationFiles, CompareWithAllOfAnotherOperation) {
  const test::TempDirectory dir;
  const fs::path file = dir.write("a", "content");
  OperationFiles reading;
  ASSERT_THAT(reading.add_input(file, "the model"), IsOk());
  OperationFiles writing;
  ASSERT_THAT(writing.add_output(file, "the output"), IsOk());
  EXPECT_EQ(writing.add_all(reading).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(reading.add_all(writing).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ephost::operation_files_test
