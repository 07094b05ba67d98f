#include "host/plugin/loading/library.h"

#include <ephost/plugin_abi.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/fixtures.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::plugin::library_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

std::filesystem::path library_of(const std::string& fixture) {
  return test::fixture_directory(fixture) / ("lib" + fixture + ".so");
}

Result<std::shared_ptr<const Library>> open(const std::filesystem::path& path) {
  EPHOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  return Library::open(std::move(file));
}

TEST(Library, FindsAnExportedFunction) {
  const auto library = open(library_of("good"));
  ASSERT_THAT(library, IsOk());
  auto* const entry =
      (*library)->find_function<std::remove_pointer_t<eph_plugin_v1_function>>("eph_plugin_v1");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry(), entry());
}

TEST(Library, FindsNoFunctionThatIsHidden) {
  const auto library = open(library_of("good"));
  ASSERT_THAT(library, IsOk());
  EXPECT_EQ((*library)->find_function<void()>("get_api"), nullptr);
  EXPECT_EQ((*library)->find_function<void()>("no_such_function"), nullptr);
}

// The path leads to another file by the time the loader opens it.
TEST(Library, IsGivenUpWhereTheLoaderFindsAnotherFile) {
  const test::TempDirectory directory;
  const std::filesystem::path path = test::copy_fixture("good", directory / "plugin");
  MappedFile checked = *MappedFile::open(path);
  std::filesystem::rename(test::copy_fixture("good", directory / "other"), path);
  const auto library = Library::open(std::move(checked));
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(library.status().message(), HasSubstr("was replaced while it was being loaded"));
}

TEST(Library, GivesTheLoadersTextForAMissingDependency) {
  const auto library = open(library_of("missing_dependency"));
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(library.status().message(),
              HasSubstr("libephost_absent.so: cannot open shared object file"));
  EXPECT_THAT(library.status().message(), HasSubstr("install what it lacks"));
  EXPECT_THAT(library.status().message(), Not(HasSubstr("boost")));
}

TEST(Library, GivesTheLoadersTextForAFileThatIsNotALibrary) {
  const test::TempDirectory directory;
  const auto library = open(directory.write("libtext.so", "not a library"));
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.status().message(), HasSubstr("libtext.so"));
  EXPECT_THAT(library.status().message(), HasSubstr("file too short"));
}

TEST(Library, GivesTheLoadersTextForAnotherMachinesLibrary) {
  const test::TempDirectory directory;
  std::string bytes = test::read_bytes(library_of("good"));
  bytes[18] = '\x2a';  // e_machine: SuperH, on which the host does not run
  bytes[19] = '\0';
  const auto library = open(directory.write("libother.so", bytes));
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.status().message(), HasSubstr("libother.so"));
  EXPECT_THAT(library.status().message(), HasSubstr("or a build of the plugin for this system"));
}

TEST(Library, IsUnmappedWithTheLastHandle) {
  const test::TempDirectory directory;
  const std::filesystem::path file = test::copy_fixture("good", directory / "plugin");
  auto library = open(file);
  ASSERT_THAT(library, IsOk());
  std::shared_ptr<const Library> second = *library;
  *library = nullptr;
  EXPECT_THAT(test::read_bytes("/proc/self/maps"), HasSubstr(file.string()));
  second = nullptr;
  EXPECT_THAT(test::read_bytes("/proc/self/maps"), Not(HasSubstr(file.string())));
}

}  // namespace
}  // namespace ephost::plugin::library_test
