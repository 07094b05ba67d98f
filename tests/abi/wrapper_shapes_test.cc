// The C++ wrapper of ephost.shapes/1 as the host sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ephost/plugin.hpp>
#include <string>
#include <vector>

#include "tests/support/fake_graph.h"
#include "tests/support/fake_host.h"

namespace {

using ephost::test::FakeError;
using ephost::test::FakeHost;

bool fails = false;
uint64_t profile_count = 0;

class ShapedProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "ShapedExecutionProvider";
  static constexpr std::string_view kName = "shaped";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<ShapedProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<ShapedProvider>();
  }
  void get_shape_wishes(const eph::GraphView&, eph::ShapeWishes& wishes) {
    if (fails) throw eph::Failure(EPH_ENGINE_ERROR, "no wishes");
    wishes.add(std::vector<uint32_t>{0, 2}, {"batch"});
  }
  void set_shape_profiles(eph::ArrayView<eph_shape_profile> profiles) {
    if (fails) throw eph::Failure(EPH_ENGINE_ERROR, "no profiles");
    profile_count = profiles.size();
  }
};

// Keeps the last wish, or refuses it.
struct FakeWishes : eph_shape_wishes {
  FakeWishes() : eph_shape_wishes{&kApi} {}
  std::vector<uint32_t> nodes;
  std::vector<std::string> symbols;
  bool refuses = false;

  static int32_t add(eph_shape_wishes* wishes, const uint32_t* nodes, uint64_t node_count,
                     const eph_string* symbols, uint64_t symbol_count, eph_error* error) noexcept {
    auto& self = *static_cast<FakeWishes*>(wishes);
    if (self.refuses) {
      error->api->set_message(error, EPH_STRING("not this node"));
      return EPH_INVALID_ARGUMENT;
    }
    self.nodes.assign(nodes, nodes + node_count);
    for (uint64_t i = 0; i < symbol_count; ++i) self.symbols.emplace_back(eph::view(symbols[i]));
    return EPH_OK;
  }
  static constexpr eph_shape_wishes_api kApi = {sizeof(eph_shape_wishes_api), &add};
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.tests.wrapper_shapes", "1.0.0", ShapedProvider)

namespace {

TEST(WrapperShapes, CarriesWishesAndProfiles) {
  const eph_provider_api& api = *ephost::test::get_api(eph_plugin_v1())->providers[0];
  FakeHost host;
  FakeError error;
  const eph_provider_config config = {sizeof(config), nullptr, 0};
  eph_provider* provider = nullptr;
  ASSERT_EQ(api.create(&api, &host, &config, &provider, &error), EPH_OK);
  EXPECT_EQ(api.get_provider_extension(provider, EPH_STRING("ephost.shapes/2")), nullptr);
  const auto* const shapes = static_cast<const eph_shapes_provider_api*>(
      api.get_provider_extension(provider, EPH_STRING(EPH_EXT_SHAPES)));
  ASSERT_NE(shapes, nullptr);
  EXPECT_EQ(shapes->struct_size, sizeof(eph_shapes_provider_api));

  const ephost::test::FakeGraph graph;
  FakeWishes wishes;
  ASSERT_EQ(shapes->get_wishes(provider, &graph, &wishes, &error), EPH_OK);
  EXPECT_EQ(wishes.nodes, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(wishes.symbols, std::vector<std::string>{"batch"});
  wishes.refuses = true;
  EXPECT_EQ(shapes->get_wishes(provider, &graph, &wishes, &error), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(error.message, "not this node");

  const std::vector<eph_shape_profile> profiles(3);
  ASSERT_EQ(
      shapes->set_profiles(provider, profiles.data(), sizeof(profiles[0]), profiles.size(), &error),
      EPH_OK);
  EXPECT_EQ(profile_count, 3U);

  fails = true;
  EXPECT_EQ(shapes->get_wishes(provider, &graph, &wishes, &error), EPH_ENGINE_ERROR);
  EXPECT_EQ(error.message, "no wishes");
  EXPECT_EQ(shapes->set_profiles(provider, nullptr, 0, 0, &error), EPH_ENGINE_ERROR);
  EXPECT_EQ(error.message, "no profiles");
  api.destroy(provider);
}

}  // namespace
