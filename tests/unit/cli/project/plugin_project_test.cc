// Names of new plugins, and the files that are made of templates.
#include "host/cli/project/plugin_project.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::cli::plugin_project_test {
namespace {

namespace fs = std::filesystem;

using test::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const PluginProject kProject = {.name = "fast_npu", .vendor = "acme & Söhne", .kind = "c_kernels"};

std::string content_of(const fs::path& file) {
  std::ifstream stream(file);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

class PluginProjects : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path script = folder_.write("templates/common/ci.sh", "#!/bin/sh\n");
    fs::permissions(script, fs::perms::owner_all);
    folder_.write("templates/common/cmake/checks.cmake", "acme\n");
    folder_.write("templates/c_kernels/acme.yaml", "vendor: \"Acme Corp.\"\n");
  }
  [[nodiscard]] fs::path templates() const { return folder_.path() / "templates"; }
  [[nodiscard]] fs::path target() const { return folder_.path() / "target"; }
  [[nodiscard]] auto names_beside_target() const {
    const auto entries = fs::directory_iterator(folder_.path());
    return std::distance(fs::begin(entries), fs::end(entries));
  }

 private:
  test::TempDirectory folder_;
};

TEST(PluginNames, AreIdentifiersEverywhere) {
  for (const char* name : {"a", "acme", "acme_npu2", "int"}) {
    EXPECT_EQ(plugin_name_problem(name), "") << name;
  }
  const std::string longest(64, 'a');
  EXPECT_EQ(plugin_name_problem(longest), "");
  const std::string too_long = longest + "a";
  for (const char* name : {"", "2fast", "_acme", "acme_", "ac__me", "Acme", "a-b", "a b", "a/b",
                           "..", "ä", too_long.c_str()}) {
    EXPECT_THAT(plugin_name_problem(name), HasSubstr("e.g. acme_npu")) << name;
  }
}

TEST(PluginNames, LeaveThatOfTheCpuProviderAlone) {
  EXPECT_THAT(plugin_name_problem("cpu"), HasSubstr("every session"));
}

TEST(PluginNames, AreInPascalCaseInTypes) {
  EXPECT_EQ(provider_type_name("acme"), "AcmeExecutionProvider");
  EXPECT_EQ(provider_type_name("fast_npu_2x"), "FastNpu2xExecutionProvider");
}

TEST(Vendors, AreTextThatEveryLanguageTakes) {
  EXPECT_EQ(vendor_problem("Müller & Söhne, Ltd."), "");
  EXPECT_EQ(vendor_problem("3000"), "");
  for (const char* vendor : {"", "a\"b", "a\\b", "${HOME}", "a;b", "a\nb", "<a>", "@A@", "\xff"}) {
    EXPECT_THAT(vendor_problem(vendor), HasSubstr("cannot be a vendor")) << vendor;
  }
}

TEST(Templates, AreFilledWithNamesOnce) {
  EXPECT_EQ(fill_template("acme Acme \"Acme Corp.\" acme_create AcmeProvider ACME", kProject),
            "fast_npu FastNpu \"acme & Söhne\" fast_npu_create FastNpuProvider ACME");
}

TEST_F(PluginProjects, HaveTheFilesOfBothFoldersUnderTheirNames) {
  const auto files = write_plugin_project(templates(), kProject, target());
  ASSERT_THAT(files, IsOk());
  EXPECT_THAT(*files, ElementsAre("ci.sh", "cmake/checks.cmake", "fast_npu.yaml"));
  EXPECT_EQ(content_of(target() / "fast_npu.yaml"), "vendor: \"acme & Söhne\"\n");
  EXPECT_EQ(content_of(target() / "cmake" / "checks.cmake"), "fast_npu\n");
}

TEST_F(PluginProjects, HaveThePermissionsOfTheUser) {
  const mode_t mask = ::umask(027);
  ASSERT_THAT(write_plugin_project(templates(), kProject, target()), IsOk());
  ::umask(mask);
  EXPECT_EQ(fs::status(target()).permissions(), fs::perms(0750));
  EXPECT_NE(fs::status(target() / "ci.sh").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(fs::status(target() / "fast_npu.yaml").permissions() & fs::perms::owner_exec,
            fs::perms::none);
}

TEST_F(PluginProjects, NeverReplaceAnything) {
  fs::create_directory(target());
  const auto files = write_plugin_project(templates(), kProject, target());
  EXPECT_EQ(files.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(files.status().message(), HasSubstr("exists already"));
  EXPECT_TRUE(fs::is_empty(target()));
  EXPECT_EQ(names_beside_target(), 2);  // the templates and the target
}

TEST_F(PluginProjects, LeaveNothingBehindWhereATemplateIsMissing) {
  fs::remove_all(templates() / "c_kernels");
  const auto files = write_plugin_project(templates(), kProject, target());
  EXPECT_EQ(files.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(files.status().message(),
              AllOf(HasSubstr("c_kernels"), HasSubstr("ephost-plugin-sdk")));
  EXPECT_EQ(names_beside_target(), 1);
}

TEST_F(PluginProjects, SayWhereTheyCannotBeWritten) {
  const auto files = write_plugin_project(templates(), kProject, target() / "missing" / "inner");
  EXPECT_EQ(files.status().code(), StatusCode::kFail);
  EXPECT_THAT(files.status().message(), HasSubstr("missing"));
}

}  // namespace
}  // namespace ephost::cli::plugin_project_test
