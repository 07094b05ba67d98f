#include "host/trust/sign_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "host/manifest/installation.h"
#include "host/manifest/platform.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/trust/samples.h"

namespace ephost::trust::sign_manifest_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using testing::kManifest;
using testing::Plugin;

std::string sha256(std::string_view content) { return sha256_of(as_bytes(content)).value(); }

TEST(CompleteManifest, AddsWhatTheManifestDoesNotState) {
  const Plugin plugin;
  plugin.folder.write("plugin/data/it's a kernel.bin", "kernel");
  plugin.folder.write("plugin/.libs/libdependency.so", "dependency");
  plugin.folder.write("plugin/config.yaml", "power: high\n");
  plugin.folder.write("plugin/acme.yaml.minisig", "");
  const auto completed = complete_manifest(plugin.manifest_file());
  ASSERT_THAT(completed, IsOk());
  EXPECT_THAT(completed->added, ElementsAre("sha256", "files"));
  EXPECT_TRUE(completed->text.starts_with(kManifest));
  EXPECT_EQ(completed->manifest.library_for("linux-x86_64")->sha256, sha256("library"));
  EXPECT_THAT(completed->manifest.files,
              ElementsAre(std::pair(".libs/libdependency.so", sha256("dependency")),
                          std::pair("config.yaml", sha256("power: high\n")),
                          std::pair("data/it's a kernel.bin", sha256("kernel"))));
  EXPECT_THAT(completed->uncovered, IsEmpty());
}

TEST(CompleteManifest, ListsTheFolderThatTheLibraryIsInstalledIn) {
  const Plugin plugin;
  std::string text(kManifest);
  const std::string path = "acme/lib/libacme.so";
  text.replace(text.find("linux-x86_64: libacme.so"), 24,
               std::string(manifest::host_platform()) + ": " + path);
  const std::filesystem::path folder = plugin.folder / "share/ephost/plugins";
  plugin.folder.write("share/ephost/plugins/acme.yaml", text);
  const std::filesystem::path libraries = *manifest::library_directory_for(folder);
  const auto install = [&](std::string_view name) {
    plugin.folder.write(std::filesystem::relative(libraries / name, plugin.folder.path()).native(),
                        name);
  };
  install(path);
  install("acme/deps/libdependency.so");
  install("other/libother.so");
  const auto completed = complete_manifest(folder / "acme.yaml");
  ASSERT_THAT(completed, IsOk());
  EXPECT_THAT(completed->added, ElementsAre("sha256", "files"));
  EXPECT_THAT(completed->manifest.files, ElementsAre(Key("acme/deps/libdependency.so")));
}

// Nothing may differ from what lies there, which is what the signature is compared with.
TEST(CompleteManifest, AddsNothingToACompleteOneWithoutAFinalNewline) {
  const Plugin plugin;
  std::string text = complete_manifest(plugin.manifest_file())->text;
  text.pop_back();
  plugin.folder.write("plugin/acme.yaml", text);
  const auto again = complete_manifest(plugin.manifest_file());
  ASSERT_THAT(again, IsOk());
  EXPECT_THAT(again->added, IsEmpty());
  EXPECT_EQ(again->text, text);
}

TEST(CompleteManifest, NamesWhatItsFilesDoNotList) {
  const Plugin plugin;
  plugin.folder.write("plugin/data.bin", "data");
  plugin.folder.write("plugin/acme.yaml", complete_manifest(plugin.manifest_file())->text);
  plugin.folder.write("plugin/later.bin", "later");
  const auto again = complete_manifest(plugin.manifest_file());
  ASSERT_THAT(again, IsOk());
  EXPECT_THAT(again->added, IsEmpty());
  EXPECT_THAT(again->uncovered, ElementsAre("later.bin"));
}

TEST(CompleteManifest, LeavesACompleteOneAlone) {
  const Plugin plugin;
  plugin.folder.write("plugin/data.bin", "data");
  plugin.folder.write("plugin/acme.yaml", complete_manifest(plugin.manifest_file())->text);
  const auto again = complete_manifest(plugin.manifest_file());
  ASSERT_THAT(again, IsOk());
  EXPECT_THAT(again->added, IsEmpty());
  EXPECT_EQ(again->text, plugin.manifest_text());
}

TEST(CompleteManifest, RefusesWhatDoesNotBelongTogether) {
  const Plugin plugin;
  plugin.folder.write("plugin/data.bin", "data");
  plugin.folder.write("plugin/acme.yaml", complete_manifest(plugin.manifest_file())->text);
  plugin.folder.write("plugin/data.bin", "other data");
  EXPECT_THAT(complete_manifest(plugin.manifest_file()).status().message(),
              HasSubstr("\"data.bin\" has the SHA-256 " + sha256("other data")));
  plugin.folder.write("plugin/data.bin", "data");
  plugin.folder.write("plugin/libacme.so", "another library");
  EXPECT_THAT(complete_manifest(plugin.manifest_file()).status().message(),
              HasSubstr("\"libacme.so\" has the SHA-256"));
}

TEST(CompleteManifest, TakesNoFilesFromAFolderOfSeveralPlugins) {
  const Plugin plugin;
  plugin.folder.write("plugin/data.bin", "data");
  std::string other(kManifest);
  other.replace(other.find("libacme.so"), 10, "libother.so");
  plugin.folder.write("plugin/other.yaml", other + "files: { other.bin: " + sha256("") + " }\n");
  plugin.folder.write("plugin/libother.so", "");
  plugin.folder.write("plugin/other.bin", "");
  plugin.folder.write("plugin/other.yaml.minisig", "");
  const auto completed = complete_manifest(plugin.manifest_file());
  ASSERT_THAT(completed, IsOk());
  EXPECT_THAT(completed->added, ElementsAre("sha256"));
  EXPECT_THAT(completed->uncovered, ElementsAre("data.bin"));
}

TEST(CompleteManifest, KnowsLibrariesOfOtherPlatforms) {
  const Plugin plugin;
  const auto complete_with = [&](std::string_view libraries) {
    std::string text(kManifest);
    text.replace(text.find("linux-x86_64: libacme.so"), 24, libraries);
    plugin.folder.write("plugin/acme.yaml", text);
    return complete_manifest(plugin.manifest_file());
  };
  const std::string host(manifest::host_platform());
  const auto has_checksum = [](const Result<CompletedManifest>& completed, std::string_view of) {
    EXPECT_THAT(completed, IsOk());
    return completed.ok() && completed->manifest.library_for(of)->sha256.has_value();
  };
  // In another package, under another name or the same.
  EXPECT_TRUE(has_checksum(complete_with(host + ": libacme.so, linux-arm: libarm.so"), host));
  EXPECT_FALSE(
      has_checksum(complete_with(host + ": libacme.so, linux-arm: libarm.so"), "linux-arm"));
  EXPECT_FALSE(
      has_checksum(complete_with(host + ": libacme.so, linux-arm: libacme.so"), "linux-arm"));
  plugin.folder.write("plugin/libarm.so", "another library");
  EXPECT_TRUE(
      has_checksum(complete_with(host + ": libacme.so, linux-arm: libarm.so"), "linux-arm"));
  EXPECT_THAT(complete_with(host + ": libother.so").status().message(), HasSubstr("libother.so"));
}

TEST(CompleteManifest, SaysWhereNothingCanBeAdded) {
  const Plugin plugin;
  plugin.folder.write("plugin/acme.yaml", plugin.manifest_text() + "...\n");
  EXPECT_THAT(complete_manifest(plugin.manifest_file()).status().message(),
              HasSubstr("write them there yourself"));
}

}  // namespace
}  // namespace ephost::trust::sign_manifest_test
