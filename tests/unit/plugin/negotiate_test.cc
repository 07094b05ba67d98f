#include "host/plugin/negotiate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "tests/support/status_matchers.h"

namespace ephost::plugin::negotiate_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;

int32_t get_devices(const eph_provider_api*, const eph_host*, eph_device_list*,
                    eph_error*) noexcept {
  return EPH_OK;
}
int32_t create(const eph_provider_api*, const eph_host*, const eph_provider_config*, eph_provider**,
               eph_error*) noexcept {
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
std::string told_directory;
const eph_plugin_api* get_api(const eph_load_info* info) noexcept {
  asked_minor = info->minor;
  told_directory = {info->directory.data, info->directory.size};
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
    ASSERT_THAT(adopted, IsOk());
    EXPECT_EQ(adopted->abi_minor, one.expected);
    EXPECT_EQ(asked_minor, one.expected);
  }
}

TEST(Negotiate, TellsTheDirectoryOfTheManifest) {
  const eph_plugin_preamble preamble = preamble_for(0, 0);
  manifest::Manifest manifest = manifest_for(0, 0);
  manifest.file = "/opt/acme/acme.yaml";
  ASSERT_THAT(negotiate(&preamble, manifest, {}), IsOk());
  EXPECT_EQ(told_directory, "/opt/acme");
  manifest.file = "here.yaml";
  ASSERT_THAT(negotiate(&preamble, manifest, {}), IsOk());
  EXPECT_EQ(told_directory, std::filesystem::current_path().native());
}

TEST(Negotiate, KeepsTheLibrarysOwnTables) {
  const eph_plugin_preamble preamble = preamble_for(0, 0);
  const auto adopted = negotiate(&preamble, manifest_for(0, 0), {});
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->api_self, &kPlugin);
  EXPECT_EQ(adopted->provider_self, &kProvider);
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
  EXPECT_THAT(negotiate(&preamble, manifest_for(0, 0), host), IsOk());
}

TEST(Negotiate, IgnoresBuildFlagsThatItDoesNotKnow) {
  eph_plugin_preamble preamble = preamble_for(0, 0);
  preamble.build_flags |= uint64_t{1} << 40;
  EXPECT_THAT(negotiate(&preamble, manifest_for(0, 0), {}), IsOk());
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
              AllOf(HasSubstr("the manifest declares 2.0, this host speaks 1.0"),
                    HasSubstr("update the host")));
}

TEST(CheckManifest, RefusesMinorsThatItDoesNotSpeakBeforeLoading) {
  EXPECT_THAT(check_manifest(manifest_for(0, 1), host_with(2, 3)).message(),
              AllOf(HasSubstr("the manifest declares 1.0 to 1.1, this host speaks 1.2 to 1.3"),
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
  EXPECT_THAT(check_manifest(manifest, host), IsOk());
}

int32_t decorate(const eph_layer_api*, const eph_provider_api* inner, const eph_layer_config*,
                 const eph_provider_api** out_table, eph_error*) noexcept {
  *out_table = inner;
  return EPH_OK;
}
void release(const eph_layer_api*, const eph_provider_api*) noexcept {}

const eph_layer_api kLayer{sizeof(kLayer), EPH_STRING("counter"), EPH_STRING("somebody"), &decorate,
                           &release};
const void* get_extension(const eph_plugin_api*, eph_string id) noexcept {
  return std::string_view(id.data, id.size) == EPH_EXT_LAYER ? &kLayer : nullptr;
}
const eph_plugin_api kLayerPlugin{sizeof(kLayerPlugin), nullptr, 0, &get_extension};
const eph_plugin_api* get_layer_api(const eph_load_info*) noexcept { return &kLayerPlugin; }
const eph_plugin_api kEmptyPlugin{sizeof(kEmptyPlugin), nullptr, 0, nullptr};
const eph_plugin_api* get_empty_api(const eph_load_info*) noexcept { return &kEmptyPlugin; }

manifest::Manifest manifest_of_layer() {
  manifest::Manifest manifest = manifest_for(0, 0);
  manifest.kind = manifest::Kind::kLayer;
  manifest.provider.clear();
  manifest.name = "counter";
  return manifest;
}

// What becomes of a library whose preamble has this get_api.
Status negotiate_over(decltype(&get_api) api, const manifest::Manifest& manifest) {
  eph_plugin_preamble preamble = preamble_for(0, 0);
  preamble.get_api = api;
  return negotiate(&preamble, manifest, {}).status();
}

TEST(Negotiate, TakesALayerOfALibraryWithoutProviders) {
  eph_plugin_preamble preamble = preamble_for(0, 0);
  preamble.get_api = &get_layer_api;
  const auto adopted = negotiate(&preamble, manifest_of_layer(), {});
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->layer_self, &kLayer);
  EXPECT_EQ(adopted->layer.decorate, &decorate);
  EXPECT_EQ(adopted->provider_self, nullptr);
}

TEST(Negotiate, RefusesALibraryOfTheOtherKind) {
  EXPECT_THAT(negotiate_over(&get_api, manifest_of_layer()).message(),
              HasSubstr("the manifest is of a layer, and the library offers providers and no "
                        "ephost.layer/1; write \"kind: provider\""));
  EXPECT_THAT(negotiate_over(&get_layer_api, manifest_for(0, 0)).message(),
              HasSubstr("the library offers a layer and no provider; write \"kind: layer\""));
  EXPECT_THAT(negotiate_over(&get_empty_api, manifest_for(0, 0)).message(),
              HasSubstr("the library offers no provider; report this"));
  EXPECT_THAT(negotiate_over(&get_empty_api, manifest_of_layer()).message(),
              HasSubstr("get_extension of counter for ephost.layer/1: eph_layer_api is null; "
                        "report this"));
}

TEST(Negotiate, RefusesALayerOfAnotherNameOrVendor) {
  manifest::Manifest renamed = manifest_of_layer();
  renamed.name = "tracer";
  EXPECT_THAT(negotiate_over(&get_layer_api, renamed).message(),
              HasSubstr("the name of the layer is \"tracer\" in the manifest and \"counter\""));
  manifest::Manifest sold = manifest_of_layer();
  sold.vendor = "Acme";
  EXPECT_THAT(negotiate_over(&get_layer_api, sold).message(),
              HasSubstr("the vendor is \"Acme\" in the manifest and \"somebody\""));
}

}  // namespace
}  // namespace ephost::plugin::negotiate_test
