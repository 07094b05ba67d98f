#include "host/cli/backend_test/backend_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::cli::backend_test_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::vector<std::string>> names_below(const std::filesystem::path& root) {
  EPHOST_ASSIGN_OR_RETURN(const auto tests,
                          find_backend_tests(std::span<const std::filesystem::path>(&root, 1)));
  std::vector<std::string> names;
  for (const BackendTest& test : tests) names.push_back(test.name);
  return names;
}

TEST(BackendTest, FindsTestsAtAnyDepthByName) {
  const test::TempDirectory folder;
  folder.write("node/test_b/model.onnx", "");
  folder.write("node/test_a/model.onnx", "");
  folder.write("test_c/model.onnx", "");
  folder.write("test_d/data.json", "");
  const auto names = names_below(folder.path());
  ASSERT_THAT(names, IsOk());
  EXPECT_THAT(*names, ElementsAre("node/test_a", "node/test_b", "test_c"));
}

TEST(BackendTest, DoesNotFollowLinksToFolders) {
  const test::TempDirectory folder;
  const test::TempDirectory other;
  folder.write("test_a/model.onnx", "");
  other.write("test_b/model.onnx", "");
  std::filesystem::create_directory_symlink(other.path(), folder / "link");
  const auto names = names_below(folder.path());
  ASSERT_THAT(names, IsOk());
  EXPECT_THAT(*names, ElementsAre("test_a"));
}

TEST(BackendTest, IsNamedAfterItsFolderIfThatIsTheRoot) {
  const test::TempDirectory folder;
  folder.write("test_a/model.onnx", "");
  for (const std::string root : {"test_a", "test_a/"}) {
    const auto names = names_below(folder / root);
    ASSERT_THAT(names, IsOk());
    EXPECT_THAT(*names, ElementsAre("test_a"));
  }
}

TEST(BackendTest, RefusesFoldersWithoutTests) {
  const test::TempDirectory folder;
  const auto empty = names_below(folder.path());
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.status().code(), StatusCode::kNoSuchFile);
  EXPECT_THAT(empty.status().message(), HasSubstr("has a model.onnx"));
  const auto missing = names_below(folder / "missing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kNoSuchFile);
}

TEST(NodeCounts, AreShownByProvider) {
  EXPECT_EQ(to_text(NodeCounts()), "none");
  EXPECT_EQ(to_text(NodeCounts{{"host", 1}, {"AcmeExecutionProvider", 12}}),
            "AcmeExecutionProvider 12, host 1");
}

TEST(NodeCounts, SayWhetherAllNodesRunOnTheProvidersThatAreRequired) {
  const std::vector<std::string> required = {"AcmeExecutionProvider", "OtherExecutionProvider"};
  EXPECT_THAT(check_all_run_on({}, required), IsOk());
  EXPECT_THAT(check_all_run_on({{"AcmeExecutionProvider", 3}}, required), IsOk());
  const Status failure = check_all_run_on({{"AcmeExecutionProvider", 3}, {"host", 2}}, required);
  EXPECT_EQ(failure.code(), StatusCode::kFail);
  EXPECT_THAT(failure.message(), HasSubstr("AcmeExecutionProvider or OtherExecutionProvider"));
  EXPECT_THAT(failure.message(), HasSubstr("others run on: host 2"));
}

}  // namespace
}  // namespace ephost::cli::backend_test_test
