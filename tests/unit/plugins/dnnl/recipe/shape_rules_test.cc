#include "plugins/dnnl/recipe/shape_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost_dnnl::shape_rules_test {
namespace {

using test::convolution_3x3;
using ::testing::HasSubstr;

std::string refusal(const Parameters& parameters, const std::vector<Dims>& inputs) {
  try {
    return "accepted " + to_text(infer_output_dims(parameters, inputs));
  } catch (const InvalidRecipe& error) {
    return error.what();
  }
}

std::string refusal(const Recipe& recipe) {
  try {
    check_recipe(recipe);
    return "accepted";
  } catch (const InvalidRecipe& error) {
    return error.what();
  }
}

TEST(ShapeRules, GiveTheOutputOfEveryOperator) {
  const Pooling pooling{PoolingKind::kMax, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {1, 1}};
  const Convolution strided{{2, 2}, {2, 1}, {1, 0}, {1, 0}, 2};
  const Dims channel = {8};
  EXPECT_EQ(infer_output_dims(strided, {{1, 4, 9, 9}, {6, 2, 3, 3}}), (Dims{1, 6, 4, 4}));
  EXPECT_EQ(infer_output_dims(MatMul{}, {{2, 1, 5, 7}, {1, 3, 7, 4}}), (Dims{2, 3, 5, 4}));
  EXPECT_EQ(infer_output_dims(MatMul{}, {{2, 5, 7}, {7, 4}, {4}}), (Dims{2, 5, 4}));
  EXPECT_EQ(infer_output_dims(pooling, {{1, 3, 5, 5}}), (Dims{1, 3, 3, 3}));
  EXPECT_EQ(
      infer_output_dims(BatchNormalization{}, {{1, 8, 2}, channel, channel, channel, channel}),
      (Dims{1, 8, 2}));
  EXPECT_EQ(infer_output_dims(Reduction{ReductionKind::kSum, {1, 2}}, {{2, 3, 4}}),
            (Dims{2, 1, 1}));
  EXPECT_EQ(infer_output_dims(Concat{1}, {{2, 3}, {2, 4}}), (Dims{2, 7}));
  EXPECT_EQ(infer_output_dims(Reshape{{6, 2}}, {{3, 4}}), (Dims{6, 2}));
  EXPECT_EQ(infer_output_dims(Transpose{{2, 0, 1}}, {{2, 3, 4}}), (Dims{4, 2, 3}));
}

TEST(ShapeRules, RefuseParametersThatDoNotFit) {
  Convolution bad_strides = convolution_3x3();
  bad_strides.strides = {0, 1};
  Convolution far_pads = convolution_3x3();
  far_pads.pads_end = {3, 0};
  const std::vector<Dims> conv = {{1, 4, 6, 6}, {4, 4, 3, 3}};
  EXPECT_THAT(refusal(bad_strides, conv), HasSubstr("strides [0, 1] don't fit"));
  EXPECT_THAT(refusal(far_pads, conv), HasSubstr("a window may lie in the padding"));
  EXPECT_THAT(refusal(convolution_3x3(), {{1, 4, 6, 6}, {4, 3, 3, 3}}),
              HasSubstr("don't fit data"));
  EXPECT_THAT(refusal(convolution_3x3(), {{1, 4, 6, 6}}), HasSubstr("has 1 inputs"));
  EXPECT_THAT(refusal(convolution_3x3(), {{1, 4, 6, 6}, {4, 4, 3, 3}, {5}}), HasSubstr("bias"));
  EXPECT_THAT(refusal(convolution_3x3(), {{1, 4, 6, 6}, {4, 4, 9, 9}}),
              HasSubstr("larger than its padded input"));
  EXPECT_THAT(refusal(MatMul{}, {{2, 3}, {4, 5}}), HasSubstr("differ in their common extent"));
  EXPECT_THAT(refusal(MatMul{}, {{2, 2, 3}, {3, 3, 5}}), HasSubstr("batch dimensions"));
  EXPECT_THAT(refusal(Softmax{2, 0}, {{2, 3}}), HasSubstr("bad axis"));
  EXPECT_THAT(refusal(Lrn{4, 1, 1, 1}, {{1, 2, 3, 3}}), HasSubstr("size must be odd"));
  EXPECT_THAT(refusal(Binary{}, {{2, 3}, {3, 3}}), HasSubstr("doesn't broadcast"));
  EXPECT_THAT(refusal(Reduction{ReductionKind::kSum, {1, 1}}, {{2, 3}}), HasSubstr("bad axes"));
  EXPECT_THAT(refusal(Reduction{ReductionKind::kSum, {}}, {{2, 3}}), HasSubstr("no axes"));
  EXPECT_THAT(refusal(Concat{0}, {{2, 3}, {2, 4}}), HasSubstr("inputs differ"));
  EXPECT_THAT(refusal(Concat{0}, std::vector<Dims>(257, Dims{1, 1})), HasSubstr("has 257 inputs"));
  EXPECT_THAT(refusal(Reshape{{7}}, {{2, 3}}), HasSubstr("cannot be reshaped to"));
  EXPECT_THAT(refusal(Transpose{{0, 0}}, {{2, 3}}), HasSubstr("not a permutation"));
}

TEST(ShapeRules, RefuseEmptyHugeAndDeepTensors) {
  EXPECT_THROW(check_dims({}), InvalidRecipe);
  EXPECT_THROW(check_dims({2, 0}), InvalidRecipe);
  EXPECT_THROW(check_dims({-1}), InvalidRecipe);
  EXPECT_THROW(check_dims({65536, 32768}), InvalidRecipe);
  EXPECT_THROW(check_dims({INT64_MAX, INT64_MAX}), InvalidRecipe);
  EXPECT_THROW(check_dims(Dims(9, 1)), InvalidRecipe);
  EXPECT_NO_THROW(check_dims({kMaxElements}));
}

TEST(CheckRecipe, AcceptsWhatLoweringBuilds) {
  test::SampleBuilder builder;
  EXPECT_EQ(refusal(test::residual_block(builder).recipe), "accepted");
}

TEST(CheckRecipe, RefusesTensorsThatAreNotDefinedOnceAndBeforeTheirUse) {
  test::SampleBuilder builder;
  const Recipe good = test::residual_block(builder).recipe;
  Recipe early = good;
  std::swap(early.ops[0], early.ops[1]);
  EXPECT_THAT(refusal(early), HasSubstr("used before it is defined"));
  Recipe twice = good;
  twice.ops.push_back(twice.ops.back());
  EXPECT_THAT(refusal(twice), HasSubstr("defined twice"));
  Recipe unknown = good;
  unknown.ops[0].inputs[0] = 1000;
  EXPECT_THAT(refusal(unknown), HasSubstr("tensor 1000"));
  Recipe undefined = good;
  undefined.tensors.push_back({{1}});
  EXPECT_THAT(refusal(undefined), HasSubstr("never defined"));
  Recipe unordered = good;
  std::swap(unordered.constants[0], unordered.constants[1]);
  EXPECT_THAT(refusal(unordered), HasSubstr("constants are not in order"));
}

TEST(CheckRecipe, RefusesDimensionsThatTheOperatorDoesNotGive) {
  test::SampleBuilder builder;
  Recipe recipe = test::residual_block(builder).recipe;
  recipe.tensors[recipe.ops[0].output].dims = {1, 4, 6, 7};
  EXPECT_THAT(refusal(recipe), HasSubstr("Convolution 'op0': the output has dimensions"));
}

TEST(CheckRecipe, RefusesPostOpsThatTheOperationDoesNotTake) {
  test::SampleBuilder builder;
  const TensorId x = builder.input({1, 4, 6, 6});
  const TensorId pooled =
      builder.add(Pooling{PoolingKind::kMax, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {x});
  builder.output(builder.add(Softmax{1, 0}, {pooled}));
  const Recipe good = builder.finish().recipe;
  PostOp function, arithmetic;
  arithmetic.kind = PostOpKind::kBinary;
  arithmetic.operand = x;
  Recipe softmax = good;
  softmax.ops[1].post_ops.push_back(function);
  EXPECT_THAT(refusal(softmax), HasSubstr("Softmax 'op1': does not take this kind of post-op"));
  Recipe pooling = good;
  pooling.ops[0].post_ops.push_back(function);
  EXPECT_EQ(refusal(pooling), "accepted");
  pooling.ops[0].post_ops.push_back(arithmetic);
  EXPECT_THAT(refusal(pooling), HasSubstr("Pooling 'op0': does not take this kind of post-op"));
}

TEST(CheckRecipe, RefusesPostOpsAndPortsThatDoNotFit) {
  test::SampleBuilder builder;
  const Recipe good = test::residual_block(builder).recipe;
  Recipe sum = good;
  PostOp post_op;
  post_op.kind = PostOpKind::kSum;
  post_op.operand = good.ops[1].inputs[1];
  sum.ops[1].post_ops.push_back(post_op);
  EXPECT_THAT(refusal(sum), HasSubstr("bad operand of a sum"));
  Recipe binary = good;
  post_op.kind = PostOpKind::kBinary;
  binary.ops[1].post_ops.push_back(post_op);
  EXPECT_THAT(refusal(binary), HasSubstr("doesn't broadcast"));
  Recipe port = good;
  port.outputs[0].shape = {5};
  EXPECT_THAT(refusal(port), HasSubstr("a port's shape [5] differs"));
}

}  // namespace
}  // namespace ephost_dnnl::shape_rules_test
