// The C++ wrapper of ephost.graph_wishes/1 as the host sees it.
#include <gtest/gtest.h>

#include <ephost/plugin.hpp>
#include <vector>

#include "tests/support/fake_host.h"

namespace {

using ephost::test::FakeError;
using ephost::test::FakeHost;

bool fails = false;

class WishingProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "WishingExecutionProvider";
  static constexpr std::string_view kName = "wishing";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<WishingProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<WishingProvider>();
  }
  eph::ArrayView<eph_kept_operator> kept_operators() {
    if (fails) throw eph::Failure(EPH_ENGINE_ERROR, "no list");
    return operators_;
  }

 private:
  std::vector<eph_kept_operator> operators_{eph::make_kept_operator("Cast", "", 1, 25)};
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.tests.wrapper_wishes", "1.0.0", WishingProvider)

namespace {

TEST(WrapperWishes, ListsTheOperatorsToKeep) {
  const eph_provider_api& api = *ephost::test::get_api(eph_plugin_v1())->providers[0];
  FakeHost host;
  FakeError error;
  const eph_provider_config config = {sizeof(config), nullptr, 0};
  eph_provider* provider = nullptr;
  ASSERT_EQ(api.create(&api, &host, &config, &provider, &error), EPH_OK);
  EXPECT_EQ(api.get_provider_extension(provider, EPH_STRING("ephost.graph_wishes/2")), nullptr);
  const auto* const wishes = static_cast<const eph_graph_wishes_api*>(
      api.get_provider_extension(provider, EPH_STRING(EPH_EXT_GRAPH_WISHES)));
  ASSERT_NE(wishes, nullptr);
  EXPECT_EQ(wishes->struct_size, sizeof(eph_graph_wishes_api));
  const eph_kept_operator* operators = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  ASSERT_EQ(wishes->get_kept_operators(provider, &operators, &stride, &count, &error), EPH_OK);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(stride, sizeof(eph_kept_operator));
  EXPECT_EQ(eph::view(operators[0].op_type), "Cast");
  fails = true;
  EXPECT_EQ(wishes->get_kept_operators(provider, &operators, &stride, &count, &error),
            EPH_ENGINE_ERROR);
  EXPECT_EQ(operators, nullptr);
  EXPECT_EQ(count, 0U);
  api.destroy(provider);
}

}  // namespace
