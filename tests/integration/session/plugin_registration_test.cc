// Plugins that are registered with an environment while it is in use.
#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <thread>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::plugin_registration_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;

class PluginRegistration : public ::testing::Test {
 protected:
  static fs::path scripted_manifest() {
    return test::fixture_directory("scripted") / "scripted.yaml";
  }
  // Plugins with the name, as the environment lists them.
  [[nodiscard]] size_t installed(std::string_view name) const {
    size_t count = 0;
    for (const InstalledPlugin& plugin : environment_.plugins()) count += plugin.name == name;
    return count;
  }
  Result<Session> create() { return Session::create(environment_, model_, test::scripted()); }

  test::TempDirectory folder_;
  fs::path model_ = test::save(folder_, test::scripted_model());
  Environment environment_ = test::environment();  // without fixtures
};

TEST_F(PluginRegistration, AddsAPluginForLaterSessions) {
  EXPECT_EQ(create().status().code(), StatusCode::kNotFound);
  const Status added = environment_.register_execution_provider_library(scripted_manifest());
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(installed("scripted"), 1U);
  test::expect_runs(create(), test::expected_outputs(model_));
  const auto devices = environment_.devices();
  ASSERT_THAT(devices, IsOk());
  EXPECT_TRUE(std::ranges::any_of(
      devices->devices, [](const EpDevice& device) { return device.provider_name == "scripted"; }));
}

TEST_F(PluginRegistration, SessionsLiveOnWithoutIt) {
  ASSERT_THAT(environment_.register_execution_provider_library(scripted_manifest(), "mine"),
              IsOk());
  auto session = create();
  ASSERT_THAT(session, IsOk());
  const Status removed = environment_.unregister_execution_provider_library("mine");
  ASSERT_THAT(removed, IsOk());
  EXPECT_EQ(installed("scripted"), 0U);
  EXPECT_EQ(create().status().code(), StatusCode::kNotFound);
  test::expect_runs(std::move(session), test::expected_outputs(model_));
  ASSERT_THAT(environment_.register_execution_provider_library(scripted_manifest(), "mine"),
              IsOk());
  EXPECT_THAT(create(), IsOk());
}

TEST_F(PluginRegistration, RefusesANameThatIsTaken) {
  ASSERT_THAT(environment_.register_execution_provider_library(scripted_manifest(), "mine"),
              IsOk());
  const Status refused = environment_.register_execution_provider_library(
      test::fixture_directory("good") / "good.yaml", "mine");
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("the registration name \"mine\" is taken by"));
}

TEST_F(PluginRegistration, RefusesWhatTheEnvironmentHasAlready) {
  ASSERT_THAT(environment_.register_execution_provider_library(scripted_manifest()), IsOk());
  const Status again =
      environment_.register_execution_provider_library(scripted_manifest(), "again");
  EXPECT_EQ(again.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(again.message(), HasSubstr("the environment already has the plugin of"));
  for (const InstalledPlugin& plugin : environment_.plugins()) {
    if (plugin.name != "cpu") continue;
    EXPECT_EQ(environment_.register_execution_provider_library(plugin.manifest).code(),
              StatusCode::kInvalidArgument);
  }
}

TEST_F(PluginRegistration, FindsTheManifestBesideALibrary) {
  const fs::path library = test::fixture_directory("good") / "libgood.so";
  const Status added = environment_.register_execution_provider_library(library);
  ASSERT_THAT(added, IsOk());
  EXPECT_EQ(installed("fixture"), 1U);
  EXPECT_THAT(environment_.unregister_execution_provider_library("fixture"), IsOk());
}

TEST_F(PluginRegistration, RefusesALibraryWithoutOneManifest) {
  const fs::path lonely = folder_ / "liblonely.so";
  fs::copy_file(test::fixture_directory("good") / "libgood.so", lonely);
  Status refused = environment_.register_execution_provider_library(lonely);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("is a shared library, and no manifest beside it names"));
  refused = environment_.register_execution_provider_library(test::fixture_directory("scripted") /
                                                             "libscripted.so");
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("several manifests name the library"),
                                       HasSubstr("scripted_two.yaml")));
}

TEST_F(PluginRegistration, RefusesOtherFiles) {
  EXPECT_EQ(environment_.register_execution_provider_library(folder_ / "none.yaml").code(),
            StatusCode::kNoSuchFile);
  EXPECT_THAT(environment_.register_execution_provider_library(model_).message(),
              HasSubstr("is neither a plugin manifest (.yaml) nor a shared library"));
  EXPECT_THAT(environment_.register_execution_provider_library(folder_.path()).message(),
              HasSubstr("is neither a plugin manifest (.yaml) nor a shared library"));
  test::write(folder_ / "selection.yaml", "selection: 1\nproviders: [cpu]\n");
  EXPECT_THAT(
      environment_.register_execution_provider_library(folder_ / "selection.yaml").message(),
      HasSubstr("is a selection file"));
  test::write(folder_ / "broken.yaml", "schema: [");
  EXPECT_THAT(environment_.register_execution_provider_library(folder_ / "broken.yaml").message(),
              HasSubstr("broken.yaml"));
}

TEST_F(PluginRegistration, TellsWhatIsWrongWithThePluginAndTakesItOnceItIsRepaired) {
  const fs::path library = test::copy_fixture("good", folder_ / "plugin");
  const std::string bytes = test::read_bytes(library);
  test::write_bytes(library, bytes.substr(0, bytes.size() / 2));
  const fs::path manifest = folder_ / "plugin" / "good.yaml";
  const Status refused = environment_.register_execution_provider_library(manifest);
  EXPECT_EQ(refused.code(), StatusCode::kEpFail);
  EXPECT_THAT(refused.message(), HasSubstr("the library is truncated"));
  EXPECT_EQ(installed("fixture"), 0U);
  fs::remove(library);
  test::write_bytes(library, bytes);
  const Status added = environment_.register_execution_provider_library(manifest);
  EXPECT_THAT(added, IsOk());
}

TEST_F(PluginRegistration, NamesTheOthersWhereOneIsNotRegistered) {
  ASSERT_THAT(environment_.register_execution_provider_library(scripted_manifest(), "mine"),
              IsOk());
  const Status refused = environment_.unregister_execution_provider_library("scripted");
  EXPECT_EQ(refused.code(), StatusCode::kNotFound);
  EXPECT_THAT(refused.message(), HasSubstr("registered are: \"mine\""));
}

// The lists that other threads read do not change under them.
TEST_F(PluginRegistration, GoesOnWhileSessionsAreCreated) {
  std::atomic<bool> is_ending{false};
  std::thread registering([&] {
    for (int i = 0; i < 30; ++i) {
      EXPECT_THAT(environment_.register_execution_provider_library(scripted_manifest()), IsOk());
      EXPECT_THAT(environment_.unregister_execution_provider_library("scripted"), IsOk());
    }
    is_ending = true;
  });
  do {
    auto session = create();
    EXPECT_TRUE(session.ok() || session.status().code() == StatusCode::kNotFound);
    if (session.ok()) {
      EXPECT_THAT(test::run(*session), IsOk());
    }
    EXPECT_GE(environment_.plugins().size(), 2U);
  } while (!is_ending);
  registering.join();
}

}  // namespace
}  // namespace ephost::plugin_registration_test
