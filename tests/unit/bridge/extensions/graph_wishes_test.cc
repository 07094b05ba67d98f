#include "host/bridge/extensions/graph_wishes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ephost/plugin.hpp>
#include <string>
#include <vector>

#include "tests/support/in_process_provider.h"
#include "tests/support/status_matchers.h"

namespace ephost::bridge::graph_wishes_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

std::vector<eph_kept_operator> wished;
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
    return wished;
  }
};

Result<std::shared_ptr<Provider>> create(std::vector<eph_kept_operator> operators) {
  wished = std::move(operators);
  return Provider::create(test::in_process_plugin<WishingProvider>(), {},
                          std::make_unique<HostServices>("x", PluginLog(), ProgressHooks()));
}

graph::Node node(const char* op_type, const char* domain, int32_t version) {
  return {.op_type = op_type, .domain = domain, .since_version = version};
}

TEST(GraphWishes, KeepOperatorsByNameDomainAndVersion) {
  const auto provider = create({eph::make_kept_operator("Cast", "", 9, 13),
                                eph::make_kept_operator("Cast", "", 21, 21),
                                eph::make_kept_operator("Neg", "ai.onnx", 1, 99),
                                eph::make_kept_operator("Block", "com.example", 1, 1)});
  ASSERT_THAT(provider, IsOk());
  const GraphWishes& wishes = (*provider)->wishes();
  EXPECT_TRUE(wishes.keeps(node("Cast", "", 9)));
  EXPECT_TRUE(wishes.keeps(node("Cast", "", 13)));
  EXPECT_TRUE(wishes.keeps(node("Cast", "", 21)));
  EXPECT_TRUE(wishes.keeps(node("Neg", "", 6)));
  EXPECT_TRUE(wishes.keeps(node("Block", "com.example", 1)));
  EXPECT_FALSE(wishes.keeps(node("Cast", "", 6)));
  EXPECT_FALSE(wishes.keeps(node("Cast", "", 19)));
  EXPECT_FALSE(wishes.keeps(node("Cast", "com.example", 9)));
  EXPECT_FALSE(wishes.keeps(node("Abs", "", 13)));
}

TEST(GraphWishes, AreNoneByDefault) {
  EXPECT_FALSE(GraphWishes().keeps(node("Cast", "", 13)));
  const auto provider = create({});
  ASSERT_THAT(provider, IsOk());
  EXPECT_FALSE((*provider)->wishes().keeps(node("Cast", "", 13)));
}

TEST(GraphWishes, RefuseOperatorsWithoutASensibleName) {
  const std::string name(1025, 'n');
  for (const eph_kept_operator& broken :
       {eph::make_kept_operator("", "", 1, 1),
        eph_kept_operator{sizeof(eph_kept_operator), {nullptr, 4}, {}, 1, 1},
        eph::make_kept_operator(name, "", 1, 1),
        eph_kept_operator{
            sizeof(eph_kept_operator), eph::to_abi("Cast"), {"", ~uint64_t{0}}, 1, 1}}) {
    const Status status = create({broken}).status();
    EXPECT_EQ(status.code(), StatusCode::kEpFail);
    EXPECT_THAT(status.message(),
                HasSubstr("WishingExecutionProvider lists an operator without a name, or with one "
                          "of more than 1024 bytes, in ephost.graph_wishes/1"));
  }
}

TEST(GraphWishes, PassOnAFailure) {
  fails = true;
  const Status status = create({}).status();
  fails = false;
  EXPECT_EQ(status.code(), StatusCode::kEngineError);
  EXPECT_EQ(
      status.message(),
      "WishingExecutionProvider failed listing the operators that it wants unchanged: no list");
}

}  // namespace
}  // namespace ephost::bridge::graph_wishes_test
