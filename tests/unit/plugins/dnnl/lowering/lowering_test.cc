#include "plugins/dnnl/lowering/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "tests/unit/plugins/dnnl/net.h"

namespace ephost_dnnl::lowering_test {
namespace {

using ephost::test::FakeAttributes;
using ephost::test::Net;
using ::testing::HasSubstr;

std::vector<std::string> op_types(Net& net) {
  const eph::GraphView graph(&net.graph());
  const LoweredPartition lowered = lower_partition(graph);
  std::vector<std::string> types;
  for (const Op& op : lowered.recipe.ops) types.emplace_back(op_type(op));
  return types;
}

TEST(Patterns, LowerGeluToOneOperation) {
  Net net;
  net.output(net.gelu(net.input({2, 3})));
  EXPECT_EQ(op_types(net), (std::vector<std::string>{"Eltwise"}));
}

TEST(Patterns, MatchGeluThatIsHalvedFirstAndScaledByAProduct) {
  Net net;
  const uint32_t x = net.input({2, 3});
  const uint32_t half = net.add("Mul", {net.scalar(0.5F), x});
  const uint32_t erf = net.add("Erf", {net.add("Mul", {x, net.scalar(0.70710678F)})});
  net.output(net.add("Mul", {half, net.add("Add", {net.scalar(1), erf})}));
  EXPECT_EQ(op_types(net), (std::vector<std::string>{"Eltwise"}));
}

TEST(Patterns, LeaveGeluWhoseInnerValuesAreReadElsewhere) {
  Net net;
  const uint32_t x = net.input({2, 3});
  const uint32_t erf = net.add("Erf", {net.add("Div", {x, net.scalar(1.41421356F)})});
  const uint32_t product = net.add("Mul", {x, net.add("Add", {erf, net.scalar(1)})});
  net.output(net.add("Mul", {product, net.scalar(0.5F)}));
  net.output(erf);
  const eph::GraphView graph(&net.graph());
  EXPECT_EQ(find_units(graph).size(), graph.node_count());
}

TEST(Patterns, LeaveGeluWithOtherConstants) {
  Net net;
  const uint32_t x = net.input({2, 3});
  const uint32_t erf = net.add("Erf", {net.add("Div", {x, net.scalar(1.5F)})});
  const uint32_t product = net.add("Mul", {x, net.add("Add", {erf, net.scalar(1)})});
  net.output(net.add("Mul", {product, net.scalar(0.5F)}));
  const eph::GraphView graph(&net.graph());
  EXPECT_EQ(find_units(graph).size(), graph.node_count());
}

TEST(Patterns, LowerLayerNormalizationToOneOperation) {
  Net net;
  net.output(net.layer_norm(net.input({2, 3, 8})));
  EXPECT_EQ(op_types(net), (std::vector<std::string>{"LayerNormalization"}));
}

TEST(Patterns, LeaveLayerNormalizationOverOtherAxes) {
  Net net;
  const uint32_t x = net.input({2, 8, 8});
  const FakeAttributes axes = {{"axes", std::vector<int64_t>{1}}};
  const uint32_t centred = net.add("Sub", {x, net.add("ReduceMean", {x}, axes)});
  const uint32_t variance = net.add("ReduceMean", {net.add("Pow", {centred, net.scalar(2)})}, axes);
  const uint32_t root = net.add("Sqrt", {net.add("Add", {variance, net.scalar(1e-5F)})});
  const uint32_t scaled = net.add("Mul", {net.add("Div", {centred, root}), net.weights({8})});
  net.output(net.add("Add", {scaled, net.weights({8})}));
  const eph::GraphView graph(&net.graph());
  EXPECT_EQ(find_units(graph).size(), graph.node_count());
}

TEST(LowerPartition, TurnsArithmeticWithScalarsIntoFunctions) {
  Net net;
  uint32_t x = net.input({2, 3});
  x = net.add("Sub", {net.scalar(1), x});
  x = net.add("Div", {x, net.scalar(3)});
  x = net.add("Div", {net.scalar(2), net.add("Exp", {x})});
  net.output(net.add("Max", {x, net.scalar(0)}));
  EXPECT_EQ(op_types(net), std::vector<std::string>(5, "Eltwise"));
}

TEST(LowerPartition, LeavesTheOtherSideOfMaxAndMinUnbounded) {
  const auto bounds = [](const char* op_type) {
    Net net;
    net.output(net.add(op_type, {net.input({2, 3}), net.scalar(0.5F)}));
    const eph::GraphView graph(&net.graph());
    const LoweredPartition lowered = lower_partition(graph);
    const auto* clip = get_if<Eltwise>(lowered.recipe.ops.at(0));
    return clip == nullptr ? std::pair(0.0F, 0.0F) : std::pair(clip->alpha, clip->beta);
  };
  EXPECT_EQ(bounds("Max"), std::pair(0.5F, HUGE_VALF));
  EXPECT_EQ(bounds("Min"), std::pair(-HUGE_VALF, 0.5F));
}

TEST(LowerPartition, NamesTheNodeThatItCannotTake) {
  Net net;
  net.output(net.add("Erf", {net.input({2, 3})}));
  const eph::GraphView graph(&net.graph());
  try {
    static_cast<void>(lower_partition(graph));
    FAIL() << "lowered";
  } catch (const eph::Failure& failure) {
    EXPECT_EQ(failure.code(), EPH_NOT_IMPLEMENTED);
    EXPECT_THAT(failure.what(), HasSubstr("Erf node 'Erf_0': operator Erf is not supported"));
  }
}

}  // namespace
}  // namespace ephost_dnnl::lowering_test
