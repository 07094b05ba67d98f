#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/dnnl/lowering/lowering.h"
#include "tests/unit/plugins/dnnl/net.h"

namespace ephost_dnnl::lower_quantization_test {
namespace {

using ephost::test::FakeAttributes;
using ephost::test::FakeGraph;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LowerDequantize : public ::testing::Test {
 protected:
  // The constants that a DequantizeLinear node of [[1, -2, 3], [-4, 5, -6]] becomes.
  std::vector<float> lowered(std::vector<uint32_t> parameters,
                             const FakeAttributes& attributes = {}) {
    parameters.insert(parameters.begin(), graph_.add_int8("w", {2, 3}, {1, -2, 3, -4, 5, -6}));
    graph_.mark_output(graph_.add("DequantizeLinear", parameters, {2, 3}, attributes));
    const LoweredPartition partition = lower_partition(eph::GraphView(&graph_));
    EXPECT_TRUE(partition.recipe.ops.empty());
    const float* data = partition.constants.data(partition.recipe.outputs.at(0).tensor);
    return {data, data + 6};
  }

  FakeGraph graph_;
};

TEST_F(LowerDequantize, MultipliesByOneScale) {
  EXPECT_THAT(lowered({graph_.add_constant("s", {}, {0.5F})}),
              ElementsAre(0.5, -1, 1.5, -2, 2.5, -3));
}

TEST_F(LowerDequantize, HasAScaleForEachIndexOfAnAxis) {
  EXPECT_THAT(lowered({graph_.add_constant("s", {3}, {0.5F, 1, 2})}, {{"axis", int64_t{-1}}}),
              ElementsAre(0.5, -2, 6, -2, 5, -12));
}

TEST_F(LowerDequantize, SubtractsTheZeroPointOfTheAxis) {
  EXPECT_THAT(
      lowered({graph_.add_constant("s", {2}, {0.5F, 1}), graph_.add_int8("z", {2}, {1, -1})},
              {{"axis", int64_t{0}}}),
      ElementsAre(0, -1.5, 1, -3, 6, -5));
}

TEST_F(LowerDequantize, RefusesWhatDoesNotFit) {
  const uint32_t scales = graph_.add_constant("s", {2}, {0.5F, 1});
  const auto refusal = [&](std::vector<uint32_t> parameters, const FakeAttributes& attributes) {
    try {
      lowered(std::move(parameters), attributes);
      return std::string();
    } catch (const eph::Failure& failure) {
      return std::string(failure.what());
    }
  };
  EXPECT_THAT(refusal({scales}, {{"axis", int64_t{1}}}), HasSubstr("extent of the axis"));
}

TEST_F(LowerDequantize, RefusesBlocks) {
  const uint32_t scale = graph_.add_constant("s", {}, {0.5F});
  EXPECT_THROW(lowered({scale}, {{"block_size", int64_t{2}}}), eph::Failure);
}

TEST_F(LowerDequantize, RefusesScalesThatAreNotConstant) {
  EXPECT_THROW(lowered({graph_.add_input("s", {})}), eph::Failure);
}

}  // namespace
}  // namespace ephost_dnnl::lower_quantization_test
