#include "plugins/dnnl/passes/passes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "plugins/dnnl/recipe/shape_rules.h"
#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost_dnnl::passes_test {
namespace {

using test::convolution_3x3;
using test::SampleBuilder;

const FastPrimitiveQuery kAlwaysFast = [](const Recipe&, const Op&) { return true; };
const FastPrimitiveQuery kNeverFast = [](const Recipe&, const Op&) { return false; };

TEST(FoldBatchNormalizations, ScalesWeightsAndMakesABias) {
  SampleBuilder builder;
  const TensorId x = builder.input({1, 1, 1, 1});
  const TensorId w = builder.constant({1, 1, 1, 1}, 3, 0);
  const Convolution one_by_one{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
  const TensorId conv = builder.add(one_by_one, {x, w});
  // 2 * (v - 5) / sqrt(3 + 1) + 7 = v + 2
  builder.output(builder.add(BatchNormalization{1.0F},
                             {conv, builder.constant({1}, 2, 0), builder.constant({1}, 7, 0),
                              builder.constant({1}, 5, 0), builder.constant({1}, 3, 0)}));
  LoweredPartition partition = builder.finish();
  fold_batch_normalizations(partition);
  remove_dead_code(partition);
  check_recipe(partition.recipe);
  ASSERT_EQ(partition.recipe.ops.size(), 1U);
  const Op& folded = partition.recipe.ops[0];
  ASSERT_NE(get_if<Convolution>(folded), nullptr);
  ASSERT_EQ(folded.inputs.size(), 3U);
  EXPECT_FLOAT_EQ(partition.constants.data(folded.inputs[1])[0], 3);
  EXPECT_FLOAT_EQ(partition.constants.data(folded.inputs[2])[0], 2);
}

TEST(FoldBatchNormalizations, LeavesConvolutionsWithOtherReaders) {
  SampleBuilder builder;
  const TensorId x = builder.input({1, 4, 6, 6});
  const TensorId conv = builder.add(convolution_3x3(), {x, builder.constant({4, 4, 3, 3})});
  const TensorId c = builder.constant({4});
  builder.output(builder.add(BatchNormalization{}, {conv, c, c, c, c}));
  builder.output(conv);
  LoweredPartition partition = builder.finish();
  fold_batch_normalizations(partition);
  EXPECT_NE(get_if<BatchNormalization>(partition.recipe.ops[1]), nullptr);
}

TEST(FusePostOps, FusesAResidualBlockIntoOneOperation) {
  SampleBuilder builder;
  LoweredPartition partition = test::residual_block(builder);
  run_passes(partition, kAlwaysFast, true);
  check_recipe(partition.recipe);
  ASSERT_EQ(partition.recipe.ops.size(), 2U);
  const std::vector<PostOp>& post_ops = partition.recipe.ops[1].post_ops;
  ASSERT_EQ(post_ops.size(), 2U);
  EXPECT_EQ(post_ops[0].kind, PostOpKind::kSum);
  EXPECT_EQ(post_ops[0].operand, partition.recipe.ops[0].output);
  EXPECT_EQ(post_ops[1].eltwise.function, EltwiseFunction::kRelu);
}

TEST(FusePostOps, LeavesWhatTheLibraryWouldComputeSlowly) {
  SampleBuilder builder;
  LoweredPartition partition = test::residual_block(builder);
  run_passes(partition, kNeverFast, true);
  check_recipe(partition.recipe);
  ASSERT_EQ(partition.recipe.ops.size(), 4U);
  for (const Op& op : partition.recipe.ops) EXPECT_TRUE(op.post_ops.empty());
}

TEST(FusePostOps, TurnsAConstantRowIntoABias) {
  SampleBuilder builder;
  const TensorId product =
      builder.add(MatMul{}, {builder.input({2, 3, 4}), builder.constant({4, 5})});
  builder.output(builder.add(Binary{}, {product, builder.constant({1, 1, 5})}));
  LoweredPartition partition = builder.finish();
  run_passes(partition, kNeverFast, true);
  check_recipe(partition.recipe);
  ASSERT_EQ(partition.recipe.ops.size(), 1U);
  ASSERT_EQ(partition.recipe.ops[0].inputs.size(), 3U);
  EXPECT_EQ(partition.recipe.dims(partition.recipe.ops[0].inputs[2]), (Dims{5}));
}

// The bias is a new constant, for which the vector of tensors has to grow at some of these sizes.
TEST(FusePostOps, TurnsAConstantRowIntoABiasWhateverTheNumberOfTensors) {
  for (int others = 0; others < 40; ++others) {
    SCOPED_TRACE(others);
    SampleBuilder builder;
    const TensorId row = builder.constant({1, 5});
    for (int i = 0; i < others; ++i) builder.input({1});
    const TensorId product =
        builder.add(MatMul{}, {builder.input({3, 4}), builder.constant({4, 5})});
    builder.output(builder.add(Binary{}, {product, row}));
    LoweredPartition partition = builder.finish();
    fuse_post_ops(partition, kNeverFast);
    ASSERT_EQ(partition.recipe.ops.size(), 1U);
    ASSERT_EQ(partition.recipe.ops[0].inputs.size(), 3U);
    EXPECT_EQ(partition.recipe.dims(partition.recipe.ops[0].inputs[2]), (Dims{5}));
  }
}

TEST(FusePostOps, AddsInPlaceOnlyToTensorsThatAreNotReadLater) {
  SampleBuilder builder;
  const TensorId x = builder.input({1, 4, 6, 6});
  const TensorId shortcut = builder.add(Eltwise{EltwiseFunction::kTanh, 0, 0}, {x});
  const TensorId conv = builder.add(convolution_3x3(), {x, builder.constant({4, 4, 3, 3})});
  const TensorId sum = builder.add(Binary{}, {conv, shortcut});
  builder.output(builder.add(Concat{1}, {sum, shortcut}));
  LoweredPartition partition = builder.finish();
  run_passes(partition, kAlwaysFast, true);
  check_recipe(partition.recipe);
  EXPECT_EQ(partition.recipe.ops.size(), 4U);
}

TEST(FusePostOps, KeepsTheOrderOfSubtraction) {
  SampleBuilder builder;
  const TensorId a = builder.input({3, 4});
  const TensorId product = builder.add(MatMul{}, {a, builder.constant({4, 5})});
  const TensorId other = builder.input({3, 5});
  builder.output(builder.add(Binary{BinaryFunction::kSub}, {other, product}));
  LoweredPartition partition = builder.finish();
  run_passes(partition, kAlwaysFast, true);
  EXPECT_EQ(partition.recipe.ops.size(), 2U);
}

TEST(FusePostOps, LeavesTensorsThatLeaveThePartition) {
  SampleBuilder builder;
  const TensorId x = builder.input({1, 4, 6, 6});
  const TensorId conv = builder.add(convolution_3x3(), {x, builder.constant({4, 4, 3, 3})});
  builder.output(conv);
  builder.output(builder.add(Eltwise{}, {conv}));
  LoweredPartition partition = builder.finish();
  run_passes(partition, kAlwaysFast, true);
  EXPECT_EQ(partition.recipe.ops.size(), 2U);
}

TEST(RemoveDeadCode, DropsWhatNothingDependsOnAndKeepsInputs) {
  SampleBuilder builder;
  const TensorId x = builder.input({4});
  builder.input({5});
  const TensorId unused = builder.constant({4});
  builder.add(Binary{}, {x, unused});
  const TensorId used = builder.constant({4}, 9, 0);
  builder.output(builder.add(Binary{}, {x, used}));
  LoweredPartition partition = builder.finish();
  remove_dead_code(partition);
  check_recipe(partition.recipe);
  EXPECT_EQ(partition.recipe.ops.size(), 1U);
  EXPECT_EQ(partition.recipe.inputs.size(), 2U);
  ASSERT_EQ(partition.recipe.constants.size(), 1U);
  EXPECT_EQ(partition.constants.data(partition.recipe.constants[0])[0], 9);
}

}  // namespace
}  // namespace ephost_dnnl::passes_test
