#include "plugins/dnnl/recipe/type_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "plugins/dnnl/recipe/shape_rules.h"

namespace ephost_dnnl::type_rules_test {
namespace {

using enum ElementType;

// x (uint8, [1, 2, 4, 4]) convolved with w (int8, [3, 2, 1, 1]) to y (uint8).
Recipe quantized_convolution() {
  Recipe recipe;
  recipe.tensors = {{{1, 2, 4, 4}, kU8}, {{3, 2, 1, 1}, kS8}, {{3}, kF32}, {{1, 3, 4, 4}, kU8}};
  recipe.inputs = {{0, {1, 2, 4, 4}}};
  recipe.constants = {1, 2};
  recipe.outputs = {{3, {1, 3, 4, 4}}};
  Op op;
  op.parameters = Convolution{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
  op.inputs = {0, 1, 2};
  op.output = 3;
  op.quantization = Quantization{{0.5F, 0.25F, 1}, 7, 0, 255};
  recipe.ops = {op};
  return recipe;
}

void expect_refused(const Recipe& recipe) { EXPECT_THROW(check_recipe(recipe), InvalidRecipe); }

TEST(TypeRules, AcceptAConvolutionOfIntegers) {
  EXPECT_NO_THROW(check_recipe(quantized_convolution()));
  Recipe recipe = quantized_convolution();
  recipe.ops[0].quantization->scales = {2};
  EXPECT_NO_THROW(check_recipe(recipe));
}

TEST(TypeRules, RefuseScalesThatAreNotPositiveNormalNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float scale : {0.0F, -1.0F, infinity, std::nanf(""), 1e-42F}) {
    EXPECT_FALSE(is_valid_scale(scale)) << scale;
    Recipe recipe = quantized_convolution();
    recipe.ops[0].quantization->scales[1] = scale;
    expect_refused(recipe);
  }
}

TEST(TypeRules, RefuseAnotherNumberOfScales) {
  for (const std::size_t count : {0, 2, 4}) {
    Recipe recipe = quantized_convolution();
    recipe.ops[0].quantization->scales.assign(count, 1);
    expect_refused(recipe);
  }
}

TEST(TypeRules, RefuseZeroPointsOutsideOfTheirType) {
  Recipe recipe = quantized_convolution();
  recipe.ops[0].quantization->data_zero_point = 256;
  expect_refused(recipe);
  recipe = quantized_convolution();
  recipe.ops[0].quantization->output_zero_point = -1;
  expect_refused(recipe);
  recipe = quantized_convolution();
  recipe.ops[0].quantization->weights_zero_point = 1;  // a convolution's have none
  expect_refused(recipe);
}

TEST(TypeRules, RefuseOperandsOfOtherTypes) {
  for (const auto& [tensor, type] : {std::pair(0, kF32), std::pair(1, kU8), std::pair(2, kS8)}) {
    Recipe recipe = quantized_convolution();
    recipe.tensors[static_cast<std::size_t>(tensor)].type = type;
    expect_refused(recipe);
  }
  Recipe recipe = quantized_convolution();
  recipe.ops[0].quantization.reset();
  expect_refused(recipe);
}

TEST(TypeRules, RefuseIntegersInPostOps) {
  Recipe recipe = quantized_convolution();
  PostOp sum;
  sum.kind = PostOpKind::kSum;
  recipe.ops[0].inputs[1] = 1;
  recipe.tensors.push_back({{1, 3, 4, 4}, kU8});
  recipe.inputs.push_back({4, {1, 3, 4, 4}});
  sum.operand = 4;
  recipe.ops[0].post_ops = {sum};
  expect_refused(recipe);
}

TEST(TypeRules, RefuseArithmeticThatWritesFloatsFromIntegers) {
  Recipe recipe;
  recipe.tensors = {{{4}, kU8}, {{4}, kF32}};
  recipe.inputs = {{0, {4}}};
  recipe.outputs = {{1, {4}}};
  Op op;
  op.parameters = Binary{};
  op.inputs = {0, 0};
  op.output = 1;
  op.quantization = Quantization{{1, 1}, 0, 0, 0};
  recipe.ops = {op};
  expect_refused(recipe);
  recipe.tensors[1].type = kU8;
  EXPECT_NO_THROW(check_recipe(recipe));
  recipe.ops[0].quantization->data_zero_point = 1;
  expect_refused(recipe);
}

TEST(TypeRules, OnlyWhatMovesElementsKeepsIntegers) {
  EXPECT_EQ(infer_output_type(Reshape{{4}}, {kS8}), kS8);
  EXPECT_EQ(infer_output_type(Concat{0}, {kU8, kU8}), kU8);
  EXPECT_EQ(infer_output_type(Eltwise{}, {kF32}), kF32);
  EXPECT_THROW(static_cast<void>(infer_output_type(Concat{0}, {kU8, kS8})), InvalidRecipe);
  EXPECT_THROW(static_cast<void>(infer_output_type(Eltwise{}, {kU8})), InvalidRecipe);
  EXPECT_THROW(static_cast<void>(infer_output_type(Binary{}, {kF32, kS8})), InvalidRecipe);
}

TEST(TypeRules, ConversionsStateScalesAndZeroPointsOfIntegersOnly) {
  EXPECT_EQ(infer_output_type(Conversion{kS8, 1, 0.5F, 0, -128}, {kF32}), kS8);
  EXPECT_EQ(infer_output_type(Conversion{kF32, 0.5F, 1, 255, 0}, {kU8}), kF32);
  EXPECT_EQ(infer_output_type(Conversion{kS8, 0.5F, 2, 255, 3}, {kU8}), kS8);
  const std::pair<Conversion, ElementType> wrong[] = {
      {{kF32, 1, 1, 0, 0}, kF32},      // floats to floats
      {{kS8, 2, 1, 0, 0}, kF32},       // floats with a scale
      {{kF32, 0.5F, 2, 0, 0}, kU8},    // likewise
      {{kF32, 0.5F, 1, 0, 1}, kU8},    // floats with a zero point
      {{kS8, 1, 0.5F, 0, 128}, kF32},  // a zero point that does not exist
      {{kF32, 0.5F, 1, -1, 0}, kU8},   // likewise
      {{kF32, 0.0F, 1, 0, 0}, kU8},    // a scale of nothing
      {{kU8, 1, -1, 0, 0}, kF32},      // a negative one
  };
  for (const auto& [conversion, input] : wrong) {
    EXPECT_THROW(static_cast<void>(infer_output_type(conversion, {input})), InvalidRecipe);
  }
}

}  // namespace
}  // namespace ephost_dnnl::type_rules_test
