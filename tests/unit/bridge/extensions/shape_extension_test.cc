#include "host/bridge/extensions/shape_extension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ephost/plugin.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/in_process_provider.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge::shape_extension_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::function<void(eph::ShapeWishes&)> wish;
std::string told;

class ShapesProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "ShapesExecutionProvider";
  static constexpr std::string_view kName = "shapes";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<ShapesProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<ShapesProvider>();
  }
  void get_shape_wishes(const eph::GraphView&, eph::ShapeWishes& wishes) { wish(wishes); }
  void set_shape_profiles(eph::ArrayView<eph_shape_profile> profiles) {
    for (const eph_shape_profile& profile : profiles) {
      told += "profile";
      for (uint64_t i = 0; i < profile.extent_count; ++i) {
        const eph_extent_range& range = profile.extents[i];
        told += " " + std::string(eph::view(range.input)) + "." + std::to_string(range.axis) + " " +
                std::string(eph::view(range.symbol)) + " " + std::to_string(range.least) + ":" +
                std::to_string(range.best) + ":" + std::to_string(range.greatest);
      }
      told += "\n";
    }
    if (profiles.size() > 2) throw eph::Failure(EPH_ENGINE_ERROR, "too many");
  }
};

class ShapeExtensionTest : public ::testing::Test {
 protected:
  ShapeExtensionTest() {
    auto created =
        Provider::create(test::in_process_plugin<ShapesProvider>(), {},
                         std::make_unique<HostServices>("x", PluginLog(), ProgressHooks()));
    EXPECT_THAT(created, IsOk());
    provider_ = std::move(created).value();
    model_.symbols = {"batch", "seq"};
    told.clear();
  }
  // Neg and Relu of an input of this shape.
  void use(graph::Shape shape) {
    const graph::ValueType type = graph::testing::tensor_type(ElementType::kFloat, shape);
    model_.graph = graph::testing::GraphBuilder()
                       .input("x", type)
                       .node("Neg", {"x"}, {"a"})
                       .node("Relu", {"a"}, {"y"})
                       .output("y")
                       .build();
    for (graph::Value& value : model_.graph.values) value.type = type;
  }
  Result<std::vector<ShapeWish>> wishes() {
    const GraphView view(model_.graph, model_);
    return provider_->shape_wishes(view, model_);
  }

  std::shared_ptr<Provider> provider_;
  graph::Model model_;
};

TEST(ShapeExtension, HasNothingWithoutTheTable) {
  const ShapeExtension none;
  EXPECT_FALSE(none.takes_profiles());
  EXPECT_THAT(none.set_profiles(std::vector<ShapeProfile>(1)), IsOk());
}

TEST_F(ShapeExtensionTest, CopiesWishes) {
  use({graph::symbolic_dim(0), graph::symbolic_dim(1)});
  wish = [](eph::ShapeWishes& wishes) {
    wishes.add(std::vector<uint32_t>{0}, {"seq", "batch"});
    wishes.add(std::vector<uint32_t>{0, 1});
  };
  const auto made = wishes();
  ASSERT_THAT(made, IsOk());
  ASSERT_EQ(made->size(), 2U);
  EXPECT_THAT((*made)[0].nodes, ElementsAre(0U));
  EXPECT_THAT((*made)[0].symbols, ElementsAre(1U, 0U));
  EXPECT_THAT((*made)[1].nodes, ElementsAre(0U, 1U));
  EXPECT_THAT((*made)[1].symbols, IsEmpty());
}

TEST_F(ShapeExtensionTest, AsksNothingAboutAStaticGraph) {
  use({2, 3});
  bool is_asked = false;
  wish = [&](eph::ShapeWishes&) { is_asked = true; };
  EXPECT_THAT(*wishes(), IsEmpty());
  EXPECT_FALSE(is_asked);
  use({2, graph::kUnknownDim});
  EXPECT_THAT(*wishes(), IsEmpty());
  EXPECT_TRUE(is_asked);
}

TEST_F(ShapeExtensionTest, RefusesWhatTheModelDoesNotHave) {
  use({graph::kUnknownDim});
  wish = [](eph::ShapeWishes& wishes) { wishes.add(std::vector<uint32_t>{2}); };
  EXPECT_THAT(wishes().status().message(),
              HasSubstr("ShapesExecutionProvider wishes in ephost.shapes/1 for extents of node 2, "
                        "of 2 nodes; report this to the plugin's vendor"));
  wish = [](eph::ShapeWishes& wishes) { wishes.add(std::vector<uint32_t>{1}, {"sep"}); };
  EXPECT_THAT(wishes().status().message(),
              HasSubstr("for extents of the symbol \"sep\", which the model does not have"));
  wish = [](eph::ShapeWishes& wishes) { wishes.add(eph::ArrayView<uint32_t>(nullptr, 1)); };
  EXPECT_EQ(wishes().status().code(), StatusCode::kEpFail);
  wish = [](eph::ShapeWishes& wishes) {
    const uint32_t node = 0;
    wishes.add(eph::ArrayView<uint32_t>(&node, size_t{1} << 40));
  };
  EXPECT_EQ(wishes().status().code(), StatusCode::kEpFail);
}

TEST_F(ShapeExtensionTest, RefusesEvenWhatTheProviderIgnores) {
  use({graph::kUnknownDim});
  wish = [](eph::ShapeWishes& wishes) {
    try {
      wishes.add(std::vector<uint32_t>{7});
    } catch (const eph::Failure&) {
      wishes.add(std::vector<uint32_t>{0});
    }
  };
  EXPECT_FALSE(wishes().ok());
}

TEST_F(ShapeExtensionTest, StatesProfiles) {
  EXPECT_TRUE(provider_->takes_shape_profiles());
  EXPECT_THAT(provider_->set_shape_profiles({}), IsOk());
  EXPECT_EQ(told, "");
  const std::vector<ShapeProfile> profiles = {{{"x", "batch", 0, 1, 2, 3}, {"x", "", 1, 4, 4, 4}},
                                              {}};
  ASSERT_THAT(provider_->set_shape_profiles(profiles), IsOk());
  EXPECT_EQ(told, "profile x.0 batch 1:2:3 x.1  4:4:4\nprofile\n");
  const Status failed = provider_->set_shape_profiles(std::vector<ShapeProfile>(3));
  EXPECT_EQ(failed.code(), StatusCode::kEngineError);
  EXPECT_EQ(failed.message(),
            "ShapesExecutionProvider failed taking the profiles of the session's shapes: too many");
}

}  // namespace
}  // namespace ephost::bridge::shape_extension_test
