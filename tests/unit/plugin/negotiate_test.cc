#include "host/plugin/negotiate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace ephost::plugin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

int32_t get_devices(const eph_host*, eph_device_list*, eph_error*) noexcept { return EPH_OK; }
int32_t create(const eph_host*, const eph_provider_config*, eph_provider**, eph_error*) noexcept {
  return EPH_OK;
}
void destroy(eph_provider*) noexcept {}

const eph_provider_api kProvider = [] {
  eph_provider_api table = {};
  table.struct_size = sizeof(table);
  table.type_name = EPH_STRING("TestExecutionProvider");
  table.name = EPH_STRING("test");
  table.vendor = EPH_STRING("somebody");
  table.get_devices = &get_devices;
  table.create = &create;
  table.destroy = &destroy;
  return table;
}();
const std::array<const eph_provider_api*, 1> kProviders{&kProvider};
const eph_plugin_api kPlugin{sizeof(kPlugin), kProviders.data(), kProviders.size(), nullptr};

uint32_t asked_minor = 0;
const eph_plugin_api* get_api(uint32_t minor) noexcept {
  asked_minor = minor;
  return &kPlugin;
}

eph_plugin_preamble preamble_for(uint32_t minor_min, uint32_t minor_max) {
  return {sizeof(eph_plugin_preamble), minor_min,       minor_max, EPH_STRING("org.ephost.test"),
          EPH_STRING("2.0.0"),         EPH_BUILD_FLAGS, 0,         &get_api};
}

manifest::Manifest manifest_for(uint32_t minor_min, uint32_t minor_max) {
  manifest::Manifest manifest;
  manifest.provider = "TestExecutionProvider";
  manifest.name = "test";
  manifest.vendor = "somebody";
  manifest.version = {2, 0, 0, {}, {}};
  manifest.abi = {1, minor_min, minor_max};
  return manifest;
}

HostOffer host_with(uint32_t minor_min, uint32_t minor_max) {
  HostOffer host;
  host.minor_min = minor_min;
  host.minor_max = minor_max;
  return host;
}

TEST(Negotiate, PicksTheHighestMinorThatBothKnow) {
  const struct {
    uint32_t plugin_min, plugin_max, host_min, host_max, expected;
  } cases[] = {{0, 0, 0, 0, 0}, {0, 5, 0, 3, 3}, {0, 3, 0, 5, 3}, {2, 9, 0, 2, 2}, {0, 2, 2, 9, 2}};
  for (const auto& one : cases) {
    const eph_plugin_preamble preamble = preamble_for(one.plugin_min, one.plugin_max);
    const auto adopted = negotiate(&preamble, manifest_for(one.plugin_min, one.plugin_max),
                                   host_with(one.host_min, one.host_max));
    ASSERT_TRUE(adopted.ok()) << adopted.status().message();
    EXPECT_EQ(adopted->minor, one.expected);
    EXPECT_EQ(asked_minor, one.expected);
  }
}

TEST(Negotiate, PrintsBothRangesWhenThePluginIsTooNew) {
  const eph_plugin_preamble preamble = preamble_for(4, 6);
  const auto adopted = negotiate(&preamble, manifest_for(4, 6), host_with(0, 3));
  ASSERT_FALSE(adopted.ok());
  EXPECT_EQ(adopted.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(adopted.status().message(),
              AllOf(HasSubstr("the library speaks 1.4 to 1.6, this host 1.0 to 1.3"),
                    HasSubstr("update the host")));
}

TEST(Negotiate, PrintsBothRangesWhenThePluginIsTooOld) {
  const eph_plugin_preamble preamble = preamble_for(0, 0);
  const auto adopted = negotiate(&preamble, manifest_for(0, 0), host_with(1, 3));
  ASSERT_FALSE(adopted.ok());
  EXPECT_THAT(adopted.status().message(),
              AllOf(HasSubstr("the library speaks 1.0, this host 1.1 to 1.3"),
                    HasSubstr("install a newer version of the plugin")));
}

TEST(Negotiate, AsksNothingOfALibraryWithASanitizerThatTheHostLacks) {
  eph_plugin_preamble preamble = preamble_for(0, 0);
  preamble.build_flags = EPH_BUILD_ADDRESS_SANITIZER;
  HostOffer host;
  host.build_flags = EPH_BUILD_THREAD_SANITIZER;
  asked_minor = 77;
  const auto adopted = negotiate(&preamble, manifest_for(0, 0), host);
  ASSERT_FALSE(adopted.ok());
  EXPECT_THAT(adopted.status().message(), HasSubstr("built with AddressSanitizer, this host with "
                                                    "ThreadSanitizer; use a build of the plugin "
                                                    "without sanitizers"));
  EXPECT_EQ(asked_minor, 77U);
}

TEST(Negotiate, TakesALibraryWithoutTheSanitizersOfTheHost) {
  eph_plugin_preamble preamble = preamble_for(0, 0);
  preamble.build_flags = 0;
  HostOffer host;
  host.build_flags = EPH_BUILD_ADDRESS_SANITIZER;
  EXPECT_TRUE(negotiate(&preamble, manifest_for(0, 0), host).ok());
}

TEST(Negotiate, IgnoresBuildFlagsThatItDoesNotKnow) {
  eph_plugin_preamble preamble = preamble_for(0, 0);
  preamble.build_flags |= uint64_t{1} << 40;
  EXPECT_TRUE(negotiate(&preamble, manifest_for(0, 0), {}).ok());
}

TEST(Negotiate, RefusesTextThatIsNotUtf8) {
  eph_plugin_preamble preamble = preamble_for(0, 0);
  preamble.id = EPH_STRING("org.\xff\xfe");
  EXPECT_THAT(negotiate(&preamble, manifest_for(0, 0), {}).status().message(),
              HasSubstr("plugin id is not valid text"));
}

TEST(Negotiate, RefusesTextOfAnAbsurdSize) {
  eph_plugin_preamble preamble = preamble_for(0, 0);
  preamble.version.size = uint64_t{1} << 60;
  EXPECT_THAT(negotiate(&preamble, manifest_for(0, 0), {}).status().message(),
              HasSubstr("version is not valid text"));
}

TEST(CheckManifest, RefusesAnotherMajorBeforeLoading) {
  manifest::Manifest manifest = manifest_for(0, 0);
  manifest.abi.major = 2;
  EXPECT_THAT(check_manifest(manifest, {}).message(),
              AllOf(HasSubstr("the manifest states 2.0, this host speaks 1.0"),
                    HasSubstr("update the host")));
}

TEST(CheckManifest, RefusesMinorsThatItDoesNotSpeakBeforeLoading) {
  EXPECT_THAT(check_manifest(manifest_for(0, 1), host_with(2, 3)).message(),
              AllOf(HasSubstr("the manifest states 1.0 to 1.1, this host speaks 1.2 to 1.3"),
                    HasSubstr("install a newer version of the plugin")));
}

TEST(CheckManifest, NamesTheExtensionThatTheHostLacks) {
  manifest::Manifest manifest = manifest_for(0, 0);
  manifest.requires_extensions = {"ephost.progress/1", "ephost.streams/2"};
  HostOffer host;
  host.extensions = {"ephost.progress/1"};
  EXPECT_THAT(check_manifest(manifest, host).message(),
              HasSubstr("requires the extension \"ephost.streams/2\""));
  host.extensions.emplace_back("ephost.streams/2");
  EXPECT_TRUE(check_manifest(manifest, host).ok());
}

}  // namespace
}  // namespace ephost::plugin
