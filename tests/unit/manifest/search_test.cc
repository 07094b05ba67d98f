#include "host/manifest/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <utility>

#include "host/base/files/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/manifest/sample.h"

namespace ephost::manifest::search_test {
namespace {

namespace fs = std::filesystem;
using ephost::test::TempDirectory;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::small_manifest;

// Sets the environment variables that control the search and restores them at the end.
class Environment {
 public:
  Environment() {
    for (const char* name : kNames) {
      const char* value = ::getenv(name);
      saved_.emplace_back(name,
                          value == nullptr ? std::nullopt : std::optional<std::string>(value));
      ::unsetenv(name);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : saved_) {
      value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
    }
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

 private:
  static constexpr const char* kNames[] = {"EPHOST_PLUGIN_PATH", "XDG_DATA_HOME", "XDG_DATA_DIRS",
                                           "HOME"};
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

std::string this_platform(std::string_view library) {
  return std::string(host_platform()) + ": " + std::string(library);
}

// A manifest `<name>.yaml` with its library.
void install(const TempDirectory& dir, const std::string& folder, const std::string& name,
             const std::string& version) {
  dir.write(folder + name + ".yaml", small_manifest(name + "Provider", "p" + name, version,
                                                    this_platform("lib" + name + ".so")));
  dir.write(folder + "lib" + name + ".so", "library of " + name);
}

SearchResult search(std::vector<fs::path> directories) {
  return find_plugins({.directories = std::move(directories),
                       .use_environment = false,
                       .use_data_directories = false});
}

std::vector<std::string> described(const std::vector<FoundPlugin>& found) {
  std::vector<std::string> texts;
  for (const FoundPlugin& plugin : found) {
    texts.push_back(plugin.manifest.provider + " " + plugin.manifest.version.to_string());
  }
  return texts;
}

std::vector<std::string> paths(const std::vector<SearchDirectory>& directories) {
  std::vector<std::string> texts;
  for (const SearchDirectory& directory : directories) texts.push_back(directory.path.native());
  return texts;
}

std::string only_reason(const SearchResult& result) {
  EXPECT_EQ(result.skipped.size(), 1U);
  return result.skipped.empty() ? "" : result.skipped[0].reason.to_string();
}

TEST(SearchDirectories, ComeInTheDocumentedOrder) {
  const Environment environment;
  Environment::set("EPHOST_PLUGIN_PATH", "/env/a::/env/b:");
  Environment::set("XDG_DATA_HOME", "/data");
  Environment::set("XDG_DATA_DIRS", "/sys/a:/sys/b");
  const std::vector<SearchDirectory> directories =
      search_directories({.directories = {"/given"}, .install_directories = {"/installed"}});
  EXPECT_THAT(paths(directories),
              ElementsAre("/given", "/env/a", "/env/b", "/data/ephost/plugins",
                          "/sys/a/ephost/plugins", "/sys/b/ephost/plugins", "/installed"));
  EXPECT_EQ(search_origin_name(directories[0].origin), "given");
  EXPECT_EQ(search_origin_name(directories[1].origin), "EPHOST_PLUGIN_PATH");
  EXPECT_EQ(search_origin_name(directories[3].origin), "user");
  EXPECT_EQ(search_origin_name(directories[4].origin), "system");
  EXPECT_EQ(search_origin_name(directories[6].origin), "installed with ephost");
}

TEST(SearchDirectories, HaveTheDefaultsOfXdg) {
  const Environment environment;
  Environment::set("HOME", "/home/me");
  EXPECT_THAT(paths(search_directories({})),
              ElementsAre("/home/me/.local/share/ephost/plugins", "/usr/local/share/ephost/plugins",
                          "/usr/share/ephost/plugins"));
}

TEST(SearchDirectories, IgnoreRelativeXdgPaths) {
  const Environment environment;
  Environment::set("HOME", "relative");
  Environment::set("XDG_DATA_HOME", "data");
  Environment::set("XDG_DATA_DIRS", "sys:/sys");
  EXPECT_THAT(paths(search_directories({})), ElementsAre("/sys/ephost/plugins"));
}

TEST(SearchDirectories, ManageWithoutAnyEnvironment) {
  const Environment environment;
  EXPECT_THAT(paths(search_directories({})),
              ElementsAre("/usr/local/share/ephost/plugins", "/usr/share/ephost/plugins"));
}

TEST(SearchDirectories, IgnoreTheEnvironmentWhenTold) {
  const Environment environment;
  Environment::set("EPHOST_PLUGIN_PATH", "/env");
  Environment::set("HOME", "/home/me");
  Environment::set("XDG_DATA_DIRS", "/sys");
  EXPECT_THAT(
      paths(search_directories({.directories = {"/given"}, .use_environment = false})),
      ElementsAre("/given", "/usr/local/share/ephost/plugins", "/usr/share/ephost/plugins"));
}

TEST(Search, FindsManifestsInADirectoryAndItsSubfolders) {
  TempDirectory dir;
  install(dir, "", "b", "1.0.0");
  install(dir, "sub/", "a", "1.0.0");
  install(dir, "sub/deeper/", "c", "1.0.0");
  fs::rename(dir / "b.yaml", dir / "b.yml");
  const SearchResult result = search({dir.path()});
  EXPECT_THAT(described(result.found), ElementsAre("aProvider 1.0.0", "bProvider 1.0.0"));
  EXPECT_THAT(result.skipped, IsEmpty());
  EXPECT_EQ(result.found[0].library, dir / "sub/liba.so");
  EXPECT_EQ(result.found[1].manifest.file, dir / "b.yml");
  EXPECT_THAT(paths(result.directories), ElementsAre(dir.path().native()));
}

TEST(Search, KeepsLayersApartFromProviders) {
  TempDirectory dir;
  install(dir, "", "b", "1.0.0");
  for (const std::string version : {"1.0.0", "1.1.0"}) {
    dir.write(version + "/layer.yaml",
              "schema: 1\nkind: layer\nname: counter\nvendor: v\nversion: " + version +
                  "\nabi: { major: 1, minor: [0, 0] }\nlibrary: { " + this_platform("lib.so") +
                  " }\n");
    dir.write(version + "/lib.so", "library");
  }
  const SearchResult result = search({dir.path()});
  EXPECT_THAT(described(result.found), ElementsAre("bProvider 1.0.0"));
  ASSERT_EQ(result.layers.size(), 2U);
  EXPECT_EQ(result.layers[0].manifest.version.to_string(), "1.1.0");
  const auto read = read_plugin(dir / "1.0.0/layer.yaml");
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(read.status().message(),
              HasSubstr("is the manifest of the layer \"counter\"; give that of a provider"));
}

TEST(Search, PutsTheHighestVersionFirst) {
  TempDirectory dir;
  install(dir, "one/", "a", "1.9.0");
  install(dir, "two/", "a", "1.10.0");
  install(dir, "zero/", "a", "1.10.0-rc.1");
  EXPECT_THAT(described(search({dir.path()}).found),
              ElementsAre("aProvider 1.10.0", "aProvider 1.10.0-rc.1", "aProvider 1.9.0"));
}

TEST(Search, PrefersTheEarlierDirectoryAmongEqualVersions) {
  TempDirectory dir;
  install(dir, "z/", "a", "1.0.0");
  install(dir, "b/", "a", "1.0.0");
  const SearchResult result = search({dir / "z", dir / "b"});
  ASSERT_EQ(result.found.size(), 2U);
  EXPECT_EQ(result.found[0].manifest.file, dir / "z/a.yaml");
}

TEST(Search, CountsAFileOnceHoweverItIsReached) {
  TempDirectory dir;
  install(dir, "real/", "a", "1.0.0");
  fs::create_directory_symlink("real", dir / "link");
  fs::create_symlink("a.yaml", dir / "real/b.yaml");
  EXPECT_EQ(search({dir / "real", dir / "link", dir / "real/.", dir.path()}).found.size(), 1U);
}

TEST(Search, PassesOverSelectionsHiddenAndOtherFiles) {
  TempDirectory dir;
  dir.write("selection.yaml", "selection: 1\nproviders: [cpu]\n");
  dir.write(".hidden.yaml", "garbage: [");
  dir.write(".hidden/a.yaml", "garbage: [");
  dir.write("CMakeFiles/CMakeConfigureLog.yaml", "events: []\n");
  dir.write("acme.exclusions.yaml", "- { check: 27.2, reason: none }\n");
  dir.write("readme.txt", "hello");
  const SearchResult result = search({dir.path()});
  EXPECT_THAT(result.found, IsEmpty());
  EXPECT_THAT(result.skipped, IsEmpty());
}

TEST(Search, SkipsABrokenManifestAlone) {
  TempDirectory dir;
  install(dir, "", "a", "1.0.0");
  dir.write("broken.yaml", "schema: 1\nprovider: [\n");
  const SearchResult result = search({dir.path()});
  EXPECT_EQ(result.found.size(), 1U);
  EXPECT_THAT(only_reason(result), HasSubstr("INVALID_ARGUMENT: " + (dir / "broken.yaml").native() +
                                             ":3:1: this is not valid YAML"));
  EXPECT_FALSE(result.skipped[0].identity.has_value());
}

TEST(Search, IdentifiesTheProviderOfASkippedManifestThatIsNotYaml) {
  TempDirectory dir;
  dir.write("a.yaml", "provider: A\nname: 'a'  # short\nversion: \"2.1.0-rc.1\"\nabi: { major:\n");
  const std::optional<PluginIdentity> identity = search({dir.path()}).skipped.at(0).identity;
  ASSERT_TRUE(identity.has_value());
  EXPECT_EQ(identity->provider, "A");
  EXPECT_EQ(identity->name, "a");
  EXPECT_EQ(identity->version, Version::parse("2.1.0-rc.1").value());
}

TEST(Search, TellsTheProviderOfASkippedManifestWithoutAVersion) {
  TempDirectory dir;
  dir.write("a.yaml", "schema: 1\nprovider: A\nversion: 2.1\n");
  const std::optional<PluginIdentity> identity = search({dir.path()}).skipped.at(0).identity;
  ASSERT_TRUE(identity.has_value());
  EXPECT_FALSE(identity->version.has_value());
}

TEST(Search, SkipsAManifestOfAnotherPlatformAndSaysWhatItHas) {
  TempDirectory dir;
  dir.write("a.yaml",
            small_manifest("A", "a", "1.0.0", "freebsd-riscv64: a.so, android-arm: b.so"));
  const SearchResult result = search({dir.path()});
  EXPECT_THAT(result.found, IsEmpty());
  EXPECT_THAT(only_reason(result),
              ::testing::AllOf(HasSubstr("NOT_FOUND: wrong platform"),
                               HasSubstr("has no library for " + std::string(host_platform()) +
                                         ", but only for android-arm, freebsd-riscv64; install")));
  EXPECT_EQ(result.skipped[0].identity->provider, "A");
}

TEST(Search, SkipsAManifestWhoseLibraryIsMissing) {
  TempDirectory dir;
  install(dir, "", "a", "1.0.0");
  fs::remove(dir / "liba.so");
  const SearchResult result = search({dir.path()});
  EXPECT_THAT(result.found, IsEmpty());
  EXPECT_THAT(
      only_reason(result),
      ::testing::AllOf(HasSubstr("NO_SUCHFILE: the library \"liba.so\""),
                       HasSubstr("is missing; install it as \"" + (dir / "liba.so").native())));
}

TEST(Search, SkipsAManifestWhoseLibraryLeavesTheDirectoryThroughALink) {
  TempDirectory dir;
  install(dir, "plugins/", "a", "1.0.0");
  dir.write("elsewhere.so", "x");
  fs::remove(dir / "plugins/liba.so");
  fs::create_symlink("../elsewhere.so", dir / "plugins/liba.so");
  const SearchResult result = search({dir / "plugins"});
  EXPECT_THAT(result.found, IsEmpty());
  EXPECT_THAT(only_reason(result), HasSubstr("a symbolic link leads out of the folder"));
}

TEST(Search, SkipsAManifestWhoseLibraryIsADirectory) {
  TempDirectory dir;
  install(dir, "", "a", "1.0.0");
  fs::remove(dir / "liba.so");
  fs::create_directory(dir / "liba.so");
  EXPECT_THAT(only_reason(search({dir.path()})), HasSubstr("it is a directory"));
}

TEST(Search, SkipsAPipeWithoutWaiting) {
  TempDirectory dir;
  ASSERT_EQ(::mkfifo((dir / "a.yaml").c_str(), 0600), 0);
  EXPECT_THAT(only_reason(search({dir.path()})), HasSubstr("device, pipe or socket"));
}

TEST(Search, SkipsALinkToNothing) {
  TempDirectory dir;
  fs::create_symlink("none", dir / "a.yaml");
  EXPECT_THAT(only_reason(search({dir.path()})), HasSubstr("NO_SUCHFILE"));
}

TEST(Search, ReportsAGivenDirectoryThatDoesNotExist) {
  TempDirectory dir;
  EXPECT_THAT(only_reason(search({dir / "none"})),
              HasSubstr("NO_SUCHFILE: cannot search the directory"));
}

TEST(Search, ReportsADirectoryOfTheEnvironmentThatDoesNotExistAndNoOther) {
  const Environment environment;
  TempDirectory dir;
  Environment::set("EPHOST_PLUGIN_PATH", dir / "none");
  Environment::set("XDG_DATA_HOME", dir / "none2");
  Environment::set("XDG_DATA_DIRS", dir / "none3");
  const SearchResult result = find_plugins({.install_directories = {dir / "none4"}});
  ASSERT_EQ(result.skipped.size(), 1U);
  EXPECT_EQ(result.skipped[0].file, dir / "none");
}

TEST(Search, FindsPluginsOfTheUser) {
  const Environment environment;
  TempDirectory dir;
  Environment::set("XDG_DATA_HOME", dir.path());
  Environment::set("XDG_DATA_DIRS", dir / "none");
  install(dir, "ephost/plugins/", "a", "1.0.0");
  EXPECT_EQ(find_plugins({}).found.size(), 1U);
}

TEST(Search, SkipsALibraryWhosePathTheLoaderWouldExpand) {
  TempDirectory dir;
  install(dir, "$ORIGIN/", "a", "1.0.0");
  const SearchResult result = search({dir / "$ORIGIN"});
  ASSERT_EQ(result.skipped.size(), 1U);
  EXPECT_EQ(result.skipped[0].reason.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(result.skipped[0].reason.message(), HasSubstr("contains '$'"));
}

TEST(Search, SkipsALinkToAPathThatTheLoaderWouldExpand) {
  TempDirectory dir;
  install(dir, "", "a", "1.0.0");
  dir.write("${LIB}/liba.so", "another library");
  fs::remove(dir / "liba.so");
  fs::create_symlink("${LIB}/liba.so", dir / "liba.so");
  EXPECT_THAT(search({dir.path()}).found, IsEmpty());
}

// A plugin in a folder that every user may write to.
class WritablePlugin : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
    install(dir_, "open/", "a", "1.0.0");
    fs::permissions(dir_ / "open", fs::perms::all);
  }
  void TearDown() override { ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS"); }

  const TempDirectory dir_;
};

TEST_F(WritablePlugin, IsSkippedWithTheReasonAndTheRemedy) {
  const SearchResult result = search({dir_ / "open"});
  EXPECT_THAT(result.found, IsEmpty());
  ASSERT_EQ(result.skipped.size(), 1U);
  EXPECT_EQ(result.skipped[0].identity->provider, "aProvider");
  const std::string reason = result.skipped[0].reason.message();
  EXPECT_THAT(reason, HasSubstr("the folder \"" + (dir_ / "open").string() + "\""));
  EXPECT_THAT(reason, HasSubstr("has the mode 0777"));
  EXPECT_THAT(reason, HasSubstr("--allow-writable-plugins"));
}

TEST_F(WritablePlugin, DoesNotAffectOthers) {
  install(dir_, "own/", "b", "1.0.0");
  EXPECT_THAT(described(search({dir_.path()}).found), ElementsAre("bProvider 1.0.0"));
}

TEST_F(WritablePlugin, IsFoundWhereThatIsAllowed) {
  ::setenv("EPHOST_ALLOW_WRITABLE_PLUGINS", "1", 1);
  EXPECT_EQ(search({dir_ / "open"}).found.size(), 1U);
  ::setenv("EPHOST_ALLOW_WRITABLE_PLUGINS", "0", 1);
  EXPECT_THAT(search({dir_ / "open"}).found, IsEmpty());
}

TEST_F(WritablePlugin, MayNotHaveItsLibraryInAnOpenFolderEither) {
  install(dir_, "own/", "b", "1.0.0");
  fs::create_directory(dir_ / "own/lib");
  fs::rename(dir_ / "own/libb.so", dir_ / "own/lib/libb.so");
  fs::create_symlink("lib/libb.so", dir_ / "own/libb.so");
  EXPECT_EQ(search({dir_ / "own"}).found.size(), 1U);
  fs::permissions(dir_ / "own/lib", fs::perms::all);
  EXPECT_THAT(only_reason(search({dir_ / "own"})), HasSubstr("own/lib\" can be changed by others"));
}

TEST(LibraryChecksum, IsNotNeeded) {
  TempDirectory dir;
  install(dir, "", "a", "1.0.0");
  EXPECT_THAT(verify_library_checksum(search({dir.path()}).found.at(0), as_bytes("abc")), IsOk());
}

TEST(LibraryChecksum, AcceptsTheLibraryThatHasIt) {
  TempDirectory dir;
  dir.write("a.yaml",
            small_manifest("A", "a", "1.0.0", this_platform("a.so")) + "sha256: { " +
                this_platform("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f2001"
                              "5ad") +
                " }\n");
  dir.write("a.so", "abc");
  EXPECT_THAT(verify_library_checksum(search({dir.path()}).found.at(0), as_bytes("abc")), IsOk());
}

TEST(LibraryChecksum, RefusesALibraryThatWasChanged) {
  TempDirectory dir;
  dir.write("a.yaml", small_manifest("A", "a", "1.0.0", this_platform("a.so")) + "sha256: { " +
                          this_platform(std::string(64, '0')) + " }\n");
  dir.write("a.so", "abc");
  const Status status = verify_library_checksum(search({dir.path()}).found.at(0), as_bytes("abc"));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("has the SHA-256 ba7816bf"));
  EXPECT_THAT(status.message(), HasSubstr("install library and manifest of the same release"));
}

}  // namespace
}  // namespace ephost::manifest::search_test
