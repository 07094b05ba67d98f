// Which operations work on integers after the pass. That they compute the right numbers is tested
// in executor/quantized_operators_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/dnnl/library/quantization.h"
#include "plugins/dnnl/passes/passes.h"
#include "plugins/dnnl/recipe/shape_rules.h"
#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost_dnnl::fuse_quantization_test {
namespace {

using test::convolution_3x3;
using ::testing::ElementsAre;
using enum ElementType;

const FastPrimitiveQuery kAlwaysFast = [](const Recipe&, const Op&) { return true; };

class FuseQuantization : public ::testing::Test {
 protected:
  TensorId quantize(TensorId x, float scale, int64_t zero_point, ElementType type = kU8) {
    return builder_.add(Conversion{type, 1, scale, 0, zero_point}, {x});
  }
  TensorId dequantize(TensorId x, float scale, int64_t zero_point) {
    return builder_.add(Conversion{kF32, scale, 1, zero_point, 0}, {x});
  }
  TensorId round_trip(TensorId x, float scale, int64_t zero_point) {
    return dequantize(quantize(x, scale, zero_point), scale, zero_point);
  }
  // Integers 1, 2, ... with scales of one half.
  TensorId weights(const Dims& dims, std::size_t scales = 1, int32_t type = EPH_ELEMENT_INT8,
                   int32_t zero_point = 0) {
    QuantizedConstant constant;
    constant.count = static_cast<std::size_t>(element_count(dims));
    std::vector<int8_t>& integers =
        *data_.emplace_back(std::make_unique<std::vector<int8_t>>(constant.count));
    for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = static_cast<int8_t>(i + 1);
    constant.integers = integers.data();
    constant.byte_size = constant.count;
    constant.type = type;
    constant.scales.assign(scales, 0.5F);
    constant.zero_points.assign(scales, zero_point);
    constant.run = constant.count / scales;
    return builder_.add_constant(dims, std::move(constant));
  }
  TensorId convolution(TensorId x, TensorId w) { return builder_.add(convolution_3x3(), {x, w}); }

  const LoweredPartition& fuse(TensorId output, bool has_products = true,
                               const FastPrimitiveQuery& is_fast = kAlwaysFast) {
    builder_.add_output(output, builder_.dims(output));
    partition_ = std::move(builder_).finish();
    remove_dead_code(partition_);
    fuse_quantization(partition_, is_fast, has_products);
    remove_dead_code(partition_);
    check_recipe(partition_.recipe);
    return partition_;
  }
  // The operations in order, each with the type of its output.
  std::vector<std::string> operations() const {
    std::vector<std::string> names;
    for (const Op& op : partition_.recipe.ops) {
      names.push_back(std::string(op_type(op)) + " " +
                      std::string(to_text(partition_.recipe.type(op.output))));
    }
    return names;
  }

  const float bias_ = 3;
  RecipeBuilder builder_;
  LoweredPartition partition_;
  std::vector<std::unique_ptr<std::vector<int8_t>>> data_;
};

TEST_F(FuseQuantization, ConvolutionsReadAndWriteIntegers) {
  const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
  const TensorId y = convolution(dequantize(x, 0.25F, 3), weights({4, 4, 3, 3}, 4));
  const LoweredPartition& fused = fuse(quantize(y, 0.5F, 10));
  EXPECT_THAT(operations(), ElementsAre("Convolution uint8"));
  const Op& op = fused.recipe.ops[0];
  EXPECT_THAT(op.quantization->scales, ElementsAre(0.25F, 0.25F, 0.25F, 0.25F));
  EXPECT_EQ(op.quantization->data_zero_point, 3);
  EXPECT_EQ(op.quantization->output_zero_point, 10);
  // The weights are the model's own bytes.
  EXPECT_EQ(fused.constants.bytes(op.inputs[1]), data_[0]->data());
}

TEST_F(FuseQuantization, ABiasIsCountedInTheLibrarysUnits) {
  const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
  const TensorId y = builder_.add(
      convolution_3x3(),
      {dequantize(x, 0.25F, 0), weights({1, 4, 3, 3}), builder_.add_constant({1}, &bias_)});
  const LoweredPartition& fused = fuse(quantize(y, 0.5F, 0));
  const float expected = bias_is_scaled() ? bias_ / 0.5F : bias_ / (0.25F * 0.5F);
  EXPECT_EQ(fused.constants.data(fused.recipe.ops.at(0).inputs.at(2))[0], expected);
}

TEST_F(FuseQuantization, BoundsThatSaturationSetsAreLeftOut) {
  for (const auto& [zero_point, count] : {std::pair(0, 0U), std::pair(10, 1U)}) {
    builder_ = {};
    const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
    convolution(dequantize(x, 0.25F, 3), weights({4, 4, 3, 3}));
    LoweredPartition partition = std::move(builder_).finish();
    PostOp relu;
    partition.recipe.ops.back().post_ops = {relu};
    const auto output = static_cast<TensorId>(partition.recipe.tensors.size());
    partition.recipe.tensors.push_back({{1, 4, 6, 6}, kU8});
    Op quantized;
    quantized.parameters = Conversion{kU8, 1, 0.5F, 0, zero_point};
    quantized.inputs = {partition.recipe.ops.back().output};
    quantized.output = output;
    partition.recipe.ops.push_back(quantized);
    partition.recipe.outputs = {{output, {1, 4, 6, 6}}};
    fuse_quantization(partition, kAlwaysFast, true);
    remove_dead_code(partition);
    ASSERT_EQ(partition.recipe.ops.size(), 1U);
    const Op& op = partition.recipe.ops[0];
    ASSERT_EQ(op.post_ops.size(), count);
    // The zero point is added after the bounds.
    if (count == 1) {
      EXPECT_EQ(op.post_ops[0].eltwise.alpha, 0);
    }
  }
}

TEST_F(FuseQuantization, OtherReadersOfAResultKeepItFloat) {
  const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
  const TensorId y = convolution(dequantize(x, 0.25F, 3), weights({4, 4, 3, 3}));
  builder_.add_output(y, builder_.dims(y));
  fuse(quantize(y, 0.5F, 10));
  EXPECT_THAT(operations(), ElementsAre("Convolution float", "Conversion uint8"));
}

TEST_F(FuseQuantization, SeveralReadersReadTheSameIntegers) {
  const TensorId x = dequantize(builder_.add_input({1, 4, 6, 6}, kU8), 0.25F, 3);
  const TensorId w = weights({4, 4, 3, 3});
  const TensorId a = round_trip(convolution(x, w), 0.5F, 1);
  const TensorId b = round_trip(convolution(x, w), 0.25F, 2);
  fuse(quantize(builder_.add(Binary{}, {a, b}), 1, 5));
  EXPECT_THAT(operations(), ElementsAre("Convolution uint8", "Convolution uint8", "Binary uint8"));
}

TEST_F(FuseQuantization, ProductsStayFloatWhereSumsWouldSaturate) {
  const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
  const TensorId y = convolution(dequantize(x, 0.25F, 3), weights({4, 4, 3, 3}));
  const LoweredPartition& fused = fuse(quantize(y, 0.5F, 10), false);
  EXPECT_THAT(operations(),
              ElementsAre("Conversion float", "Convolution float", "Conversion uint8"));
  EXPECT_EQ(fused.constants.data(fused.recipe.ops[1].inputs[1])[2], 1.5F);
}

TEST_F(FuseQuantization, OperationsStayFloatWhereTheLibraryIsSlow) {
  const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
  const TensorId y = convolution(dequantize(x, 0.25F, 3), weights({4, 4, 3, 3}));
  fuse(quantize(y, 0.5F, 10), true, [](const Recipe&, const Op&) { return false; });
  EXPECT_THAT(operations(),
              ElementsAre("Conversion float", "Convolution float", "Conversion uint8"));
}

TEST_F(FuseQuantization, AsymmetricWeightsOfConvolutionsStayFloat) {
  const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
  const TensorId w = weights({4, 4, 3, 3}, 1, EPH_ELEMENT_UINT8, 127);
  fuse(quantize(convolution(dequantize(x, 0.25F, 3), w), 0.5F, 10));
  EXPECT_THAT(operations(),
              ElementsAre("Conversion float", "Convolution float", "Conversion uint8"));
}

TEST_F(FuseQuantization, UnsignedWeightsAreShifted) {
  const TensorId x = builder_.add_input({3, 4}, kU8);
  const TensorId w = weights({4, 5}, 1, EPH_ELEMENT_UINT8, 130);
  const LoweredPartition& fused =
      fuse(quantize(builder_.add(MatMul{}, {dequantize(x, 0.25F, 3), w}), 0.5F, 10));
  EXPECT_THAT(operations(), ElementsAre("MatMul uint8"));
  const Op& op = fused.recipe.ops[0];
  EXPECT_EQ(op.quantization->weights_zero_point, 2);
  EXPECT_EQ(static_cast<const int8_t*>(fused.constants.bytes(op.inputs[1]))[0], 1 - 128);
}

TEST_F(FuseQuantization, QuantisingTwiceRoundsTwice) {
  const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
  TensorId y = convolution(dequantize(x, 0.25F, 3), weights({4, 4, 3, 3}));
  y = round_trip(y, 0.5F, 10);
  fuse(quantize(y, 0.75F, 10));
  EXPECT_THAT(operations(), ElementsAre("Convolution uint8", "Conversion uint8"));
}

TEST_F(FuseQuantization, QuantisingAlikeIsLeftOut) {
  const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
  TensorId y = convolution(dequantize(x, 0.25F, 3), weights({4, 4, 3, 3}));
  y = round_trip(y, 0.5F, 10);
  fuse(quantize(y, 0.5F, 10));
  EXPECT_THAT(operations(), ElementsAre("Convolution uint8"));
}

TEST_F(FuseQuantization, MovementsBetweenAResultAndItsQuantisationMoveIntegers) {
  const TensorId x = builder_.add_input({1, 4, 6, 6}, kU8);
  TensorId y = convolution(dequantize(x, 0.25F, 3), weights({4, 4, 3, 3}));
  y = builder_.add(Pooling{PoolingKind::kMax, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, {y});
  y = builder_.add(Reshape{{4, 9}}, {builder_.add(Transpose{{0, 2, 3, 1}}, {y})});
  fuse(quantize(y, 0.5F, 10));
  EXPECT_THAT(operations(), ElementsAre("Convolution uint8", "Pooling uint8", "Transpose uint8",
                                        "Reshape uint8"));
}

TEST_F(FuseQuantization, ConcatenationsRequantiseWhatDiffers) {
  const TensorId a = dequantize(builder_.add_input({1, 4, 6, 6}, kU8), 0.25F, 3);
  const TensorId b = dequantize(builder_.add_input({1, 2, 6, 6}, kU8), 0.5F, 10);
  fuse(quantize(builder_.add(Concat{1}, {a, b}), 0.5F, 10));
  EXPECT_THAT(operations(), ElementsAre("Conversion uint8", "Concat uint8"));
}

TEST_F(FuseQuantization, ProductsOfActivationsReadSignedIntegers) {
  const TensorId a = dequantize(builder_.add_input({2, 3, 4}, kU8), 0.25F, 3);
  const TensorId b = dequantize(builder_.add_input({2, 4, 5}, kU8), 0.5F, 10);
  const LoweredPartition& fused = fuse(quantize(builder_.add(MatMul{}, {a, b}), 0.5F, 10));
  EXPECT_THAT(operations(), ElementsAre("Conversion int8", "MatMul uint8"));
  EXPECT_EQ(fused.recipe.ops[1].quantization->weights_zero_point, 10 - 128);
}

TEST_F(FuseQuantization, SumsWithManyTermsStayFloat) {
  const TensorId x = builder_.add_input({1, 70000}, kU8);
  const TensorId y = builder_.add(MatMul{}, {dequantize(x, 0.25F, 3), weights({70000, 1})});
  fuse(quantize(y, 0.5F, 10));
  EXPECT_THAT(operations(), ElementsAre("Conversion float", "MatMul float", "Conversion uint8"));
}

}  // namespace
}  // namespace ephost_dnnl::fuse_quantization_test
