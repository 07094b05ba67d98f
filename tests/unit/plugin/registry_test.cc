#include "host/plugin/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <latch>
#include <ostream>
#include <thread>

#include "host/base/hash.h"
#include "tests/fixtures/fixtures.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::plugin::registry_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

bool is_mapped(const std::filesystem::path& library) {
  return test::read_bytes("/proc/self/maps").find(library.string()) != std::string::npos;
}

TEST(Registry, LoadsACorrectPlugin) {
  Registry registry;
  const auto loaded = registry.load(test::find_fixture("good"));
  ASSERT_THAT(loaded, IsOk());
  const LoadedPlugin& plugin = **loaded;
  EXPECT_EQ(plugin.manifest.provider, "FixtureExecutionProvider");
  EXPECT_EQ(plugin.abi_minor, 0U);
  EXPECT_EQ(plugin.api.provider_count, 1U);
  eph_provider* provider = nullptr;
  EXPECT_EQ(plugin.provider.create(plugin.provider_self, nullptr, nullptr, &provider, nullptr),
            EPH_OK);
  EXPECT_NE(provider, nullptr);
  plugin.provider.destroy(provider);
}

TEST(Registry, GivesTheSamePluginWhileItIsInUse) {
  Registry registry;
  const auto first = registry.load(test::find_fixture("good"));
  const auto second = registry.load(test::find_fixture("good"));
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(*first, *second);
}

TEST(Registry, PicksTheProviderThatTheManifestNames) {
  Registry registry;
  const auto loaded = registry.load(test::find_fixture("two_providers"));
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ((*loaded)->api.provider_count, 2U);
  EXPECT_EQ(std::string_view((*loaded)->provider.name.data, (*loaded)->provider.name.size),
            "fixture");
}

TEST(Registry, SharesOneLibraryBetweenItsProviders) {
  const test::TempDirectory directory;
  test::copy_fixture("two_providers", directory / "plugin");
  manifest::FoundPlugin first = test::find_plugin_in(directory / "plugin");
  manifest::FoundPlugin second = first;
  second.manifest.file.replace_filename("second.yaml");
  second.manifest.provider = "SecondExecutionProvider";
  second.manifest.name = "second";
  Registry registry;
  const auto a = registry.load(first);
  const auto b = registry.load(second);
  ASSERT_THAT(a, IsOk());
  ASSERT_THAT(b, IsOk());
  EXPECT_NE(*a, *b);
  EXPECT_EQ((*a)->library, (*b)->library);
}

// What was checked for the second provider is not what is loaded for the first one.
TEST(Registry, DoesNotShareALibraryThatWasReplacedSinceItWasLoaded) {
  const test::TempDirectory directory;
  const auto library = test::copy_fixture("two_providers", directory / "plugin");
  const manifest::FoundPlugin first = test::find_plugin_in(directory / "plugin");
  manifest::FoundPlugin second = first;
  second.manifest.file.replace_filename("second.yaml");
  second.manifest.provider = "SecondExecutionProvider";
  second.manifest.name = "second";
  Registry registry;
  auto a = registry.load(first);
  ASSERT_THAT(a, IsOk());
  std::filesystem::rename(library, directory / "loaded.so");
  std::filesystem::copy_file(directory / "loaded.so", library);
  EXPECT_THAT(registry.load(second).status().message(),
              HasSubstr("was replaced while it was being loaded, or since this process loaded it"));
  a = Status(StatusCode::kFail, "unloaded");
  registry.forget(second.manifest.file);
  EXPECT_THAT(registry.load(second), IsOk());
}

TEST(Registry, LeavesAProviderAloneWhoseNeighbourIsBroken) {
  Registry registry;
  EXPECT_THAT(registry.load(test::find_fixture("broken_neighbour")), IsOk());
}

TEST(Registry, SpeaksWithAPluginThatKnowsLaterMinors) {
  Registry registry;
  const auto loaded = registry.load(test::find_fixture("newer_minors"));
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ((*loaded)->abi_minor, uint32_t{EPH_ABI_MINOR});
}

struct RefusedFixture {
  std::string_view name;
  std::string_view text;
};

void PrintTo(const RefusedFixture& fixture, std::ostream* out) { *out << fixture.name; }

class RegistryRefuses : public ::testing::TestWithParam<RefusedFixture> {};

constexpr RefusedFixture kRefusedFixtures[] = {
    {"missing_symbol", "the library does not export \"eph_plugin_v1\""},
    {"null_preamble", "eph_plugin_v1 of FixtureExecutionProvider: eph_plugin_preamble is null"},
    {"short_preamble", "eph_plugin_preamble is too short: its struct_size is 48"},
    {"null_get_api", "eph_plugin_preamble lacks the required function \"get_api\""},
    {"empty_minor_range", "an empty range of ABI minor versions, 3 to 2"},
    {"future_minors", "the library speaks 1.7 to 1.9, this host 1.0; update the host"},
    {"no_id", "the library declares an empty plugin id"},
    {"sanitized", "the plugin was built with MemorySanitizer, this host with "},
    {"sanitizer_runtime", "built with a sanitizer that this host was built without"},
    {"null_table", "FixtureExecutionProvider for ABI version 1.0: eph_plugin_api is null"},
    {"short_table", "eph_plugin_api is too short: its struct_size is 16"},
    {"no_providers", "the library offers no provider"},
    {"null_providers", "providers has 1 entries at a null pointer"},
    {"too_many_providers", "providers has 18446744073709551615 entries, and at most 1024"},
    {"null_provider", "FixtureExecutionProvider for provider table 0: eph_provider_api is null"},
    {"short_provider",
     "eph_provider_api is too short: its struct_size is 72, and the required "
     "\"destroy\" ends at 80"},
    {"null_create", "eph_provider_api lacks the required function \"create\""},
    {"null_destroy", "eph_provider_api lacks the required function \"destroy\""},
    {"null_get_devices", "eph_provider_api lacks the required function \"get_devices\""},
    {"kernels_without_create", "\"get_kernels\" without \"create_kernel\""},
    {"compatibility_without_validate", "\"get_compatibility\" without \"validate\""},
    {"duplicate_type_name", "two providers under one name, \"FixtureExecutionProvider\""},
    {"duplicate_short_name", "(\"fixture\") and \"SecondExecutionProvider\" (\"fixture\")"},
    {"text_without_data", "the library's type name of provider table 0 is not valid text"},
    {"other_version", "the version is \"1.2.3\" in the manifest and \"1.2.4\" in the library"},
    {"other_minors",
     "the range of ABI versions is \"1.0 to 1.2\" in the manifest and \"1.0 to "
     "1.3\" in the library"},
    {"other_provider",
     "does not offer the manifest's provider \"FixtureExecutionProvider\", only "
     "\"OtherExecutionProvider\""},
    {"other_short_name", "the short name is \"fixture\" in the manifest and \"other\""},
    {"other_vendor", "the vendor is \"ephost tests\" in the manifest and \"somebody else\""},
    {"no_context_sources", "the manifest lists no \"context_sources\""},
    {"requires_extension", "requires the extension \"ephost.time_travel/1\""},
    {"missing_dependency", "libephost_absent.so: cannot open shared object file"},
};

TEST_P(RegistryRefuses, WithReasonFilesAndRemedy) {
  const RefusedFixture& fixture = GetParam();
  const manifest::FoundPlugin plugin = test::find_fixture(fixture.name);
  Registry registry;
  const auto loaded = registry.load(plugin);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(loaded.status().message(),
              AllOf(HasSubstr(std::string(fixture.text)), HasSubstr("; "),
                    HasSubstr(plugin.library.string()), HasSubstr(plugin.manifest.file.string())));
  EXPECT_FALSE(is_mapped(plugin.library));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, RegistryRefuses, ::testing::ValuesIn(kRefusedFixtures),
                         [](const auto& fixture) { return std::string(fixture.param.name); });

TEST(Registry, RefusesALibraryWhoseChecksumDiffersWithoutLoadingIt) {
  manifest::FoundPlugin plugin = test::find_fixture("good");
  for (auto& [platform, library] : plugin.manifest.libraries) library.sha256 = std::string(64, 'a');
  Registry registry;
  const auto loaded = registry.load(plugin);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(loaded.status().message(), HasSubstr(std::string(64, 'a')));
  EXPECT_FALSE(is_mapped(plugin.library));
}

TEST(Registry, ChecksAPluginWithoutLoadingIt) {
  const test::TempDirectory directory;
  test::copy_fixture("good", directory / "plugin");
  const manifest::FoundPlugin good = test::find_plugin_in(directory / "plugin");
  Registry registry;
  EXPECT_THAT(registry.check(good), IsOk());
  EXPECT_FALSE(is_mapped(good.library));
}

TEST(Registry, ChecksWhatTheManifestAndTheFileShow) {
  const test::TempDirectory directory;
  test::copy_fixture("good", directory / "plugin");
  const manifest::FoundPlugin good = test::find_plugin_in(directory / "plugin");
  const auto refusal = [&](auto change) {
    manifest::FoundPlugin plugin = good;
    change(plugin);
    return Registry().check(plugin).message();
  };
  EXPECT_THAT(refusal([](auto& plugin) { plugin.manifest.abi.major = 9; }),
              HasSubstr("declares 9.0"));
  EXPECT_THAT(refusal([](auto& plugin) { plugin.manifest.requires_extensions = {"acme.magic/3"}; }),
              HasSubstr("acme.magic/3"));
  EXPECT_THAT(refusal([](auto& plugin) {
                for (auto& [platform, library] : plugin.manifest.libraries) {
                  library.sha256 = std::string(64, 'a');
                }
              }),
              HasSubstr(std::string(64, 'a')));
  EXPECT_THAT(refusal([](auto& plugin) { plugin.library = plugin.manifest.file; }),
              HasSubstr("not a shared library"));
  EXPECT_THAT(refusal([](auto& plugin) { plugin.library += ".absent"; }), HasSubstr(".absent"));
}

TEST(Registry, LoadsALibraryWhoseChecksumIsRight) {
  manifest::FoundPlugin plugin = test::find_fixture("good");
  const auto checksum = sha256_of(as_bytes(test::read_bytes(plugin.library)));
  ASSERT_THAT(checksum, IsOk());
  for (auto& [platform, library] : plugin.manifest.libraries) library.sha256 = *checksum;
  Registry registry;
  EXPECT_THAT(registry.load(plugin), IsOk());
}

TEST(Registry, TellsThatALibraryHasGone) {
  const test::TempDirectory directory;
  const auto library = test::copy_fixture("good", directory / "plugin");
  const manifest::FoundPlugin plugin = test::find_plugin_in(directory / "plugin");
  std::filesystem::remove(library);
  Registry registry;
  EXPECT_EQ(registry.load(plugin).status().code(), StatusCode::kNoSuchFile);
}

// The system's loader would take a file from lib/x86_64-linux-gnu/ instead.
TEST(Registry, RefusesALibraryInAFolderThatTheLoaderExpands) {
  const test::TempDirectory directory;
  test::copy_fixture("good", directory / "plugin");
  manifest::FoundPlugin plugin = test::find_plugin_in(directory / "plugin");
  std::filesystem::rename(directory / "plugin", directory / "$LIB");
  plugin.library = directory / "$LIB" / plugin.library.filename();
  Registry registry;
  const auto loaded = registry.load(plugin);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(loaded.status().message(), HasSubstr("contains '$'"));
}

TEST(Registry, RefusesALibraryThatWasCutShort) {
  const test::TempDirectory directory;
  const auto library = test::copy_fixture("good", directory / "plugin");
  const manifest::FoundPlugin plugin = test::find_plugin_in(directory / "plugin");
  const std::string whole = test::read_bytes(library);
  for (size_t size = 0; size < whole.size(); size += size < 700 ? 50 : 1000) {
    test::write_bytes(library, std::string_view(whole).substr(0, size));
    Registry registry;
    const auto loaded = registry.load(plugin);
    ASSERT_FALSE(loaded.ok()) << size;
    if (size >= 1000) {
      EXPECT_THAT(loaded.status().message(),
                  HasSubstr("the library is truncated: it has " + std::to_string(size)));
    }
  }
}

TEST(Registry, KeepsTheReasonOfEachRefusal) {
  Registry registry;
  EXPECT_FALSE(registry.load(test::find_fixture("null_create")).ok());
  EXPECT_FALSE(registry.load(test::find_fixture("other_vendor")).ok());
  ASSERT_THAT(registry.load(test::find_fixture("good")), IsOk());
  const std::vector<Refusal> refusals = registry.refusals();
  ASSERT_THAT(refusals, SizeIs(2));
  EXPECT_EQ(refusals[0].manifest_file.filename(), "null_create.yaml");
  EXPECT_THAT(refusals[0].reason.message(), HasSubstr("\"create\""));
  EXPECT_EQ(refusals[1].manifest_file.filename(), "other_vendor.yaml");
}

TEST(Registry, DoesNotTryARefusedPluginAgain) {
  const test::TempDirectory directory;
  const auto library = test::copy_fixture("good", directory / "plugin");
  const manifest::FoundPlugin plugin = test::find_plugin_in(directory / "plugin");
  const std::string whole = test::read_bytes(library);
  test::write_bytes(library, "damaged");
  Registry registry;
  const Status reason = registry.load(plugin).status();
  test::write_bytes(library, whole);
  EXPECT_EQ(registry.load(plugin).status().message(), reason.message());
  EXPECT_THAT(Registry().load(plugin), IsOk());
}

TEST(Registry, UnloadsALibraryWithItsLastUserAndLoadsItAgain) {
  const test::TempDirectory directory;
  const auto library = test::copy_fixture("two_providers", directory / "plugin");
  const manifest::FoundPlugin plugin = test::find_plugin_in(directory / "plugin");
  Registry registry;
  for (int round = 0; round < 2; ++round) {
    auto loaded = registry.load(plugin);
    ASSERT_THAT(loaded, IsOk());
    const std::shared_ptr<const Library> last = (*loaded)->library;
    *loaded = nullptr;
    EXPECT_TRUE(is_mapped(library));
  }
  EXPECT_FALSE(is_mapped(library));
}

TEST(Registry, NeverUnloadsALibraryThatAsksToStay) {
  const test::TempDirectory directory;
  const auto library = test::copy_fixture("stays_loaded", directory / "plugin");
  for (int round = 0; round < 2; ++round) {
    ASSERT_THAT(Registry().load(test::find_plugin_in(directory / "plugin")), IsOk());
    EXPECT_TRUE(is_mapped(library));
  }
}

TEST(Registry, OutlivesNoPlugin) {
  const test::TempDirectory directory;
  const auto library = test::copy_fixture("good", directory / "plugin");
  std::shared_ptr<const LoadedPlugin> plugin;
  {
    Registry registry;
    plugin = *registry.load(test::find_plugin_in(directory / "plugin"));
  }
  EXPECT_TRUE(is_mapped(library));
  EXPECT_EQ(plugin->api_self->provider_count, 1U);
}

TEST(Registry, LoadsFromManyThreadsAtOnce) {
  const std::array<std::string_view, 4> names{"good", "two_providers", "null_create",
                                              "newer_minors"};
  constexpr int kThreads = 8;
  Registry registry;
  std::latch start(kThreads);
  std::array<int, kThreads> loaded{};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int i = 0; i < 40; ++i) {
        loaded[t] += registry.load(test::find_fixture(names[(t + i) % names.size()])).ok() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(loaded, ::testing::Each(30));
  EXPECT_THAT(registry.refusals(), SizeIs(1));
}

}  // namespace
}  // namespace ephost::plugin::registry_test
