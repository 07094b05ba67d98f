// The version of a plugin that a session uses if the highest one cannot be used.
#include <gmock/gmock.h>

#include <ostream>
#include <string>

#include "tests/integration/session/scripted_sample.h"

namespace ephost::plugin_versions_test {
namespace {

namespace fs = std::filesystem;
using test::LogCapture;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The plugins of a test, in one folder. A fixture has version 1.2.3 unless stated otherwise.
class InstalledPlugins {
 public:
  struct Files {
    fs::path library;
    fs::path manifest;
  };

  Files install(const std::string& fixture) {
    fs::create_directories(path());
    const fs::path library = test::copy_fixture(fixture, path() / fixture);
    return {library, path() / fixture / (fixture + ".yaml")};
  }
  // Adds a plugin whose manifest declares version 2.0.0.
  Files install_as_2(const std::string& fixture) {
    Files files = install(fixture);
    replace_in(files.manifest, "version: 1.2.3", "version: 2.0.0");
    return files;
  }
  [[nodiscard]] fs::path path() const { return folder_ / "plugins"; }

  static void replace_in(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = test::read_bytes(file);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << file;
    test::write_bytes(file, text.replace(at, from.size(), to));
  }

 private:
  test::TempDirectory folder_;
};

// The version of a session's first provider, or the error.
std::string taken_version(const InstalledPlugins& plugins, const SessionOptions& options) {
  const test::TempDirectory folder;
  const fs::path model = test::save(folder, test::scripted_model());
  const auto prepared = prepare_inside(test::scripted_environment(plugins.path()), model, options,
                                       session::Stage::kOptimized);
  if (!prepared.ok()) return prepared.status().to_string();
  return prepared->providers[0]->plugin().manifest.version.to_string();
}

SessionOptions with_fixture(const std::string& range = "", OptionList options = {}) {
  SessionOptions session;
  session.append_execution_provider("fixture", std::move(options), range);
  return session;
}

// A plugin with version 2.0.0 that cannot be used.
struct UnusablePlugin {
  std::string name;
  std::string reason;
  void (*install)(InstalledPlugins& plugins);
};

void PrintTo(const UnusablePlugin& plugin, std::ostream* out) { *out << plugin.name; }

const UnusablePlugin kUnusablePlugins[] = {
    {"Truncated", "the library is truncated",
     [](InstalledPlugins& plugins) {
       const auto files = plugins.install("next_version");
       fs::resize_file(files.library, fs::file_size(files.library) / 2);
     }},
    {"OfAnotherMachine", "the system cannot load",
     [](InstalledPlugins& plugins) {
       const auto files = plugins.install("next_version");
       std::string bytes = test::read_bytes(files.library);
       bytes[18] = '\x08';  // e_machine: MIPS
       test::write_bytes(files.library, bytes);
     }},
    {"WithoutLibrary", "names is missing",
     [](InstalledPlugins& plugins) { fs::remove(plugins.install("next_version").library); }},
    {"ForAnotherPlatform", "wrong platform",
     [](InstalledPlugins& plugins) {
       InstalledPlugins::replace_in(plugins.install("next_version").manifest,
                                    std::string(manifest::host_platform()) + ":",
                                    "freebsd-riscv64:");
     }},
    {"OfAnotherChecksum", "has the SHA-256",
     [](InstalledPlugins& plugins) {
       const auto files = plugins.install("next_version");
       InstalledPlugins::replace_in(files.manifest, "version: 2.0.0",
                                    "version: 2.0.0\nsha256: { " +
                                        std::string(manifest::host_platform()) + ": \"" +
                                        std::string(64, 'a') + "\" }");
     }},
    {"OfALaterSchema", "manifest schema 9 is not supported",
     [](InstalledPlugins& plugins) {
       InstalledPlugins::replace_in(plugins.install("next_version").manifest, "schema: 1",
                                    "schema: 9");
     }},
    {"WithABrokenManifest", "key \"abi\"",
     [](InstalledPlugins& plugins) {
       InstalledPlugins::replace_in(plugins.install("next_version").manifest,
                                    "abi: { major: 1, minor: [0, 0] }", "abi: none");
     }},
    {"WithATruncatedManifest", "this is not valid YAML",
     [](InstalledPlugins& plugins) {
       const auto files = plugins.install("next_version");
       const std::string text = test::read_bytes(files.manifest);
       test::write_bytes(files.manifest, text.substr(0, text.find("minor:")));
     }},
    {"WithoutEntryPoint", "does not export \"eph_plugin_v1\"",
     [](InstalledPlugins& plugins) { plugins.install_as_2("missing_symbol"); }},
    {"WithoutDependency", "libephost_absent.so",
     [](InstalledPlugins& plugins) { plugins.install_as_2("missing_dependency"); }},
    {"OfLaterMinorVersions", "no common ABI version",
     [](InstalledPlugins& plugins) { plugins.install_as_2("future_minors"); }},
    {"ThatRequiresMore", "requires the extension \"ephost.time_travel/1\"",
     [](InstalledPlugins& plugins) { plugins.install_as_2("requires_extension"); }},
    {"OfAnotherVersionThanItsManifest", "manifest and library disagree: the version",
     [](InstalledPlugins& plugins) { plugins.install_as_2("two_providers"); }},
    {"WithABrokenTable", "lacks the required function \"create\"",
     [](InstalledPlugins& plugins) { plugins.install("next_null_create"); }},
    {"ThatFailsToCreateItsProvider", "this machine has no such device",
     [](InstalledPlugins& plugins) { plugins.install("no_device"); }},
};

class UnusablePluginTest : public ::testing::TestWithParam<UnusablePlugin> {
 protected:
  UnusablePluginTest() { GetParam().install(plugins_); }

  InstalledPlugins plugins_;
};

TEST_P(UnusablePluginTest, GivesWayToTheNextVersionWithAWarning) {
  const auto good = plugins_.install("good");
  const LogCapture log;
  EXPECT_EQ(taken_version(plugins_, with_fixture()), "1.2.3");
  EXPECT_THAT(
      log.text(),
      AllOf(HasSubstr("FixtureExecutionProvider: version 2.0.0 of \"" + plugins_.path().native()),
            HasSubstr("passed over for version 1.2.3 of \"" + good.manifest.native() + "\": "),
            HasSubstr(GetParam().reason)));
}

TEST_P(UnusablePluginTest, IsNotReplacedWhereThisVersionWasAskedFor) {
  plugins_.install("good");
  EXPECT_THAT(taken_version(plugins_, with_fixture("=2.0.0")), HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(Plugins, UnusablePluginTest, ::testing::ValuesIn(kUnusablePlugins),
                         [](const auto& plugin) { return plugin.param.name; });

TEST(PluginVersions, TheHighestThatWorksIsTakenWithoutAWarning) {
  InstalledPlugins plugins;
  plugins.install("good");
  plugins.install("next_version");
  const LogCapture log;
  EXPECT_EQ(taken_version(plugins, with_fixture()), "2.0.0");
  EXPECT_THAT(log.text(), IsEmpty());
}

TEST(PluginVersions, ABrokenLowerVersionIsIgnored) {
  InstalledPlugins plugins;
  plugins.install("next_version");
  fs::remove(plugins.install("good").library);
  const LogCapture log;
  EXPECT_EQ(taken_version(plugins, with_fixture()), "2.0.0");
  EXPECT_THAT(log.text(), IsEmpty());
}

TEST(PluginVersions, AnotherCopyOfTheSameVersionIsTaken) {
  InstalledPlugins plugins;
  test::write_bytes(plugins.install("good").library, "damaged");
  fs::create_directory(plugins.path() / "later");
  for (const char* name : {"libgood.so", "good.yaml"}) {
    fs::copy_file(test::fixture_directory("good") / name, plugins.path() / "later" / name);
  }
  EXPECT_EQ(taken_version(plugins, with_fixture("=1.2.3")), "1.2.3");
}

TEST(PluginVersions, TheErrorNamesEachVersionWithItsReasonIfNoneWorks) {
  InstalledPlugins plugins;
  const auto two = plugins.install("no_device");
  const auto one = plugins.install("null_create");
  const auto skipped = plugins.install("good");
  fs::remove(skipped.library);
  EXPECT_THAT(taken_version(plugins, with_fixture()),
              AllOf(HasSubstr("EP_FAIL: no plugin for the provider FixtureExecutionProvider"),
                    HasSubstr("; version 2.0.0 of \"" + two.manifest.native() + "\": "),
                    HasSubstr("this machine has no such device"),
                    HasSubstr("; version 1.2.3 of \"" + one.manifest.native() + "\": "),
                    HasSubstr("lacks the required function \"create\""),
                    HasSubstr("; version 1.2.3 of \"" + skipped.manifest.native() + "\": "),
                    HasSubstr("is missing")));
}

TEST(PluginVersions, AnOptionThatTheHighestDoesNotKnowIsAnError) {
  InstalledPlugins plugins;
  plugins.install("next_version");
  InstalledPlugins::replace_in(plugins.install("good").manifest, "version: 1.2.3",
                               "version: 1.2.3\noptions:\n  - { name: speed, type: int, "
                               "default: 1, help: how fast }");
  EXPECT_THAT(taken_version(plugins, with_fixture("", {{"speed", "2"}})),
              AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("speed")));
}

TEST(PluginVersions, OptionsThatTheHighestRefusesAreAnError) {
  InstalledPlugins plugins;
  plugins.install("unwanted_options");
  plugins.install("good");
  EXPECT_THAT(taken_version(plugins, with_fixture()),
              HasSubstr("these options contradict each other"));
}

TEST(PluginVersions, TheCpuProviderIsNotShadowedEither) {
  InstalledPlugins plugins;
  fs::create_directories(plugins.path());
  const fs::path cpu(EPHOST_PLUGINS);
  fs::copy_file(cpu / "cpu.yaml", plugins.path() / "cpu.yaml");
  std::string manifest = test::read_bytes(cpu / "cpu.yaml");
  const size_t at = manifest.find("\nversion: ");
  manifest.replace(at, manifest.find('\n', at + 1) - at, "\nversion: 99.0.0");
  test::write_bytes(plugins.path() / "cpu.yaml", manifest);
  for (const auto& entry : fs::directory_iterator(cpu)) {
    if (entry.path().extension() == ".so") {
      test::write_bytes(plugins.path() / entry.path().filename(),
                        "\x7f"
                        "ELF");
    }
  }
  const LogCapture log;
  EXPECT_EQ(taken_version(plugins, {}).find("99"), std::string::npos);
  EXPECT_THAT(log.text(), HasSubstr("CPUExecutionProvider: version 99.0.0 of"));
}

}  // namespace
}  // namespace ephost::plugin_versions_test
