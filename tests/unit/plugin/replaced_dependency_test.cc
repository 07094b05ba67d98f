// Libraries that a plugin's library depends on, and that its manifest lists, are replaced while the
// plugin is loaded: no code runs but that of the files that were checked.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "host/plugin/loading/library.h"
#include "host/plugin/loading/plugin_files.h"
#include "host/plugin/registry.h"
#include "host/trust/secret_key.h"
#include "host/trust/verifier.h"
#include "tests/fixtures/fixtures.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/plugin/attacked_plugin.h"

namespace ephost::plugin::replaced_dependency_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDependency = "libdependency.so";

// A fixture that depends on libdependency.so, directly or not.
class ReplacedDependency : public AttackedPlugin {
 protected:
  void use(const std::string& fixture, bool lists_dependency = true) {
    library_ = test::copy_fixture(fixture, directory_ / "plugin");
    dependency_ = library_.parent_path() / kDependency;
    good_ = directory_ / "good.so";
    other_ = directory_ / "other.so";
    std::filesystem::copy_file(dependency_, good_);
    std::filesystem::copy_file(test::fixture_directory("dependent_constructor") / kDependency,
                               other_);
    std::ofstream manifest(library_.parent_path() / (fixture + ".yaml"), std::ios::app);
    manifest << "files:\n";
    for (const char* const name : {kDependency, "libmiddle.so"}) {
      const std::filesystem::path file = library_.parent_path() / name;
      if (!std::filesystem::exists(file) || (name == kDependency && !lists_dependency)) continue;
      manifest << "  " << name << ": " << checksum_of(test::read_bytes(file)) << "\n";
    }
    if (!lists_dependency && fixture == "dependent") manifest << "  {}\n";
    manifest << "sha256: {" << plugin_platform() << ": " << checksum_of(test::read_bytes(library_))
             << "}\n";
    manifest.close();
    plugin_ = test::find_plugin_in(library_.parent_path());
  }

  void replace_dependency() {
    std::filesystem::remove(dependency_);
    std::filesystem::copy_file(other_, dependency_);
  }

  // The library as it is checked now, to be loaded later.
  Result<std::shared_ptr<const Library>> load_after(const auto& change, bool listed_only = false) {
    EPHOST_ASSIGN_OR_RETURN(PluginFiles files, PluginFiles::open(plugin_));
    change();
    return Library::open(files.take_library(), files.terms(listed_only));
  }

  static std::string plugin_platform() {
    return test::find_fixture("good").manifest.libraries.begin()->first;
  }

  std::filesystem::path library_;
  std::filesystem::path dependency_;
  std::filesystem::path good_;
  std::filesystem::path other_;
};

TEST_F(ReplacedDependency, IsLoadedFromBesideTheLibrary) {
  for (const char* const fixture : {"dependent", "distant"}) {
    use(fixture);
    const auto library = load_after([] {}, true);
    ASSERT_THAT(library, IsOk());
    EXPECT_THAT(test::read_bytes("/proc/self/maps"), HasSubstr(dependency_.string()));
    EXPECT_TRUE((*library)->unlisted().empty());
    std::filesystem::remove_all(directory_ / "plugin");
    std::filesystem::remove(good_);
    std::filesystem::remove(other_);
  }
}

TEST_F(ReplacedDependency, RunsNothing) {
  use("dependent");
  const auto library = load_after([&] { replace_dependency(); });
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.status().message(), HasSubstr("libdependency.so\" was replaced while"));
  EXPECT_EQ(::getenv(kHasRun), nullptr);
  EXPECT_THAT(test::read_bytes("/proc/self/maps"), Not(HasSubstr(library_.string())));
}

TEST_F(ReplacedDependency, RunsNothingFurtherAway) {
  use("distant");
  const auto library = load_after([&] { replace_dependency(); });
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.status().message(), HasSubstr("libdependency.so\" was replaced while"));
  EXPECT_EQ(::getenv(kHasRun), nullptr);
  EXPECT_THAT(test::read_bytes("/proc/self/maps"),
              AllOf(Not(HasSubstr(library_.string())), Not(HasSubstr("ephost-load-guard"))));
}

// Shows that the fixture reports that it ran, so that the tests above can fail.
TEST_F(ReplacedDependency, RunsWhereNoManifestListsIt) {
  use("distant", false);
  const auto library = load_after([&] { replace_dependency(); });
  ASSERT_THAT(library, IsOk());
  EXPECT_NE(::getenv(kHasRun), nullptr);
  EXPECT_EQ((*library)->unlisted(), dependency_);
}

TEST_F(ReplacedDependency, HasToBeListedWhereOnlyListedOnesMayBeLoaded) {
  use("distant", false);
  const auto library = load_after([&] { replace_dependency(); }, true);
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.status().message(),
              AllOf(HasSubstr(dependency_.string()), HasSubstr("not in \"files\"")));
  EXPECT_EQ(::getenv(kHasRun), nullptr);
}

// The name by which the loader finds it is that of a link.
TEST_F(ReplacedDependency, IsNotReplacedThroughALink) {
  use("dependent");
  std::filesystem::rename(dependency_, library_.parent_path() / "dependency-1.so");
  std::filesystem::create_symlink("dependency-1.so", dependency_);
  EXPECT_THAT(load_after([] {}, true), IsOk());
  const auto library = load_after([&] {
    std::filesystem::remove(dependency_);
    std::filesystem::create_symlink(other_, dependency_);
  });
  EXPECT_THAT(library.status().message(), HasSubstr("libdependency.so\" was replaced while"));
  EXPECT_EQ(::getenv(kHasRun), nullptr);
}

TEST_F(ReplacedDependency, IsRefusedWhereOthersMayChangeIt) {
  ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
  for (const bool is_listed : {true, false}) {
    use("distant", is_listed);
    std::filesystem::permissions(dependency_, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::add);
    Registry registry;
    const Status refused = registry.load(plugin_).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(),
                HasSubstr("the file \"" + dependency_.string() + "\" can be changed by others"));
    std::filesystem::remove_all(directory_ / "plugin");
    std::filesystem::remove(good_);
    std::filesystem::remove(other_);
  }
}

// The plugin finds it at $ORIGIN/../deps.
class DistantFolder : public ReplacedDependency {
 protected:
  void SetUp() override {
    use("dependent", false);
    std::filesystem::create_directory(directory_ / "deps");
    std::filesystem::rename(dependency_, directory_ / "deps" / kDependency);
    dependency_ = directory_ / "deps" / kDependency;
    replace_dependency();
  }
};

TEST_F(DistantFolder, IsLoadedFromWhereNothingForbidsIt) {
  const auto library = load_after([] {});
  ASSERT_THAT(library, IsOk());
  EXPECT_NE(::getenv(kHasRun), nullptr);
  EXPECT_EQ((*library)->unlisted(), dependency_);
}

TEST_F(DistantFolder, HasNoLibrariesWhereOnlyListedOnesMayBeLoaded) {
  const auto library = load_after([] {}, true);
  EXPECT_EQ(library.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(library.status().message(),
              AllOf(HasSubstr(dependency_.string()), HasSubstr("not in \"files\"")));
  EXPECT_EQ(::getenv(kHasRun), nullptr);
}

TEST_F(DistantFolder, HasNoLibrariesThatOthersMayChange) {
  ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
  std::filesystem::permissions(directory_ / "deps", std::filesystem::perms::all);
  const auto library = load_after([] {});
  EXPECT_EQ(library.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(library.status().message(), HasSubstr("can be changed by others"));
  EXPECT_EQ(::getenv(kHasRun), nullptr);
}

// Links put it in reach of a name that looks like the system's.
TEST_F(DistantFolder, IsStillThePluginsWhereverALinkLeads) {
  std::filesystem::remove_all(directory_ / "deps");
  std::filesystem::create_directory_symlink("plugin", directory_ / "deps");
  dependency_ = directory_ / "plugin" / kDependency;
  std::filesystem::copy_file(other_, dependency_);
  EXPECT_FALSE(load_after([] {}, true).ok());
  EXPECT_EQ(::getenv(kHasRun), nullptr);
}

TEST_F(ReplacedDependency, IsHeldUntilThePluginIsLoaded) {
  use("dependent");
  {
    const auto files = PluginFiles::open(plugin_);
    ASSERT_THAT(files, IsOk());
    EXPECT_LT(::open(dependency_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), 0);
  }
  const int writer = ::open(dependency_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_GE(writer, 0);
  ::close(writer);
}

TEST_F(ReplacedDependency, RunsNoCodeOfAFileThatIsRenamedIntoItsPlace) {
  use("dependent");
  const std::string added = directory_ / "added.so";
  const Attacker attacker([&](int n) {
    const std::filesystem::path& file = n % 2 == 0 ? other_ : good_;
    if (::link(file.c_str(), added.c_str()) == 0) ::rename(added.c_str(), dependency_.c_str());
  });
  const Outcomes outcomes = load_repeatedly(1000);
  EXPECT_GT(outcomes.replaced, 0);
}

TEST_F(ReplacedDependency, RunsNoCodeOfAFolderThatIsRenamedIntoThePlaceOfItsOwn) {
  use("distant");
  const std::string folder = library_.parent_path();
  const std::string other = directory_ / "other";
  std::filesystem::copy(folder, other);
  std::filesystem::remove(other + "/" + kDependency);
  std::filesystem::copy_file(other_, other + "/" + kDependency);
  const Attacker attacker([&](int) {
    ::renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  });
  const Outcomes outcomes = load_repeatedly(1000);
  EXPECT_GT(outcomes.replaced, 0);
}

TEST_F(ReplacedDependency, RunsNoCodeThatIsWrittenIntoTheFile) {
  use("dependent");
  const std::string good = test::read_bytes(good_);
  const std::string other = test::read_bytes(other_);
  const Attacker attacker([&](int n) {
    const std::string& bytes = n % 2 == 0 ? other : good;
    const int file = ::open(dependency_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0) return;
    if (::write(file, bytes.data(), bytes.size()) < 0) ::_exit(1);
    ::close(file);
  });
  int loaded = 0;
  for (int i = 0; i < 1000; ++i) {
    const FirstMoments load = load_in_a_process();
    EXPECT_TRUE(load.has_returned) << "in load " << i;
    EXPECT_FALSE(load.has_run_other_code) << "in load " << i;
    if (::testing::Test::HasFailure()) break;
    loaded += load.is_loaded ? 1 : 0;
  }
  std::cout << loaded << " loaded\n";
  EXPECT_GT(loaded, 0);
}

// The signature of the manifest covers what is listed, and no policy but `require` insists on it.
class UnlistedDependency : public ReplacedDependency {
 protected:
  void SetUp() override {
    use("distant", false);
    std::filesystem::create_directory(directory_ / "trust");
    std::filesystem::permissions(directory_ / "trust", std::filesystem::perms::owner_all);
    directory_.write("trust/key.pub", trust::to_text(key_.public_key()));
    test::write_bytes(trust::signature_file(plugin_.manifest.file),
                      trust::to_text(key_.sign(as_bytes(plugin_.text), "")));
  }

  [[nodiscard]] trust::Verifier verifier(SignaturePolicy policy) const {
    return {policy, {.places = {.user = directory_ / "trust"}}};
  }

  trust::SecretKey key_ = trust::SecretKey::generate().value();
};

TEST_F(UnlistedDependency, IsRefusedUnderRequireBeforeItRuns) {
  replace_dependency();
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kRequire));
  const Status refused = registry.load(plugin_).status();
  EXPECT_EQ(refused.code(), StatusCode::kEpFail);
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("libdependency.so\" was loaded with the plugin"),
                    HasSubstr("not in \"files\""), HasSubstr("while loading provider")));
  EXPECT_EQ(::getenv(kHasRun), nullptr);
}

TEST_F(UnlistedDependency, IsRefusedWhereListedOnesAloneAreLoaded) {
  Registry registry;
  registry.load_listed_only();
  EXPECT_THAT(registry.load(plugin_).status().message(), HasSubstr("not in \"files\""));
}

TEST_F(UnlistedDependency, IsKeptFromAStricterSessionThatComesLater) {
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kOff));
  const auto loaded = registry.load(plugin_);
  ASSERT_THAT(loaded, IsOk());
  EXPECT_THAT(registry.load(plugin_, SignaturePolicy::kRequire).status().message(),
              HasSubstr("not in \"files\""));
}

}  // namespace
}  // namespace ephost::plugin::replaced_dependency_test
