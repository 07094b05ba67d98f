#include "plugins/dnnl/context/recipe_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost_dnnl::recipe_codec_test {
namespace {

std::string encoded(const Recipe& recipe) {
  ByteWriter writer;
  encode(recipe, writer);
  return writer.bytes();
}

Recipe decoded(const std::string& bytes) {
  ByteReader reader(bytes);
  Recipe recipe = decode_recipe(reader);
  reader.finish();
  return recipe;
}

// A recipe with every operator and every kind of post-op.
Recipe everything() {
  test::SampleBuilder builder;
  TensorId x = builder.input({2, 4, 6, 6});
  x = builder.add(test::convolution_3x3(),
                  {x, builder.constant({4, 4, 3, 3}), builder.constant({4})});
  x = builder.add(Pooling{PoolingKind::kMax, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, {x});
  const TensorId channel = builder.constant({4});
  x = builder.add(BatchNormalization{1e-3F}, {x, channel, channel, channel, channel});
  x = builder.add(Lrn{3, 0.1F, 0.7F, 2}, {x});
  x = builder.add(LayerNormalization{1e-6F}, {x, builder.constant({6})});
  x = builder.add(Softmax{3, 1}, {x});
  x = builder.add(Eltwise{EltwiseFunction::kClip, -1, 1}, {x});
  x = builder.add(Binary{BinaryFunction::kMul}, {x, builder.constant({1, 4, 1, 1})});
  x = builder.add(Concat{1}, {x, x});
  x = builder.add(Transpose{{0, 2, 3, 1}}, {x});
  x = builder.add(Reshape{{2, 36, 8}}, {x});
  x = builder.add(MatMul{}, {x, builder.constant({8, 5})});
  x = builder.add(Reduction{ReductionKind::kMax, {1}}, {x});
  x = builder.add(Conversion{ElementType::kS8, 1, 0.5F, 0, -3}, {x});
  builder.output(builder.add(Conversion{ElementType::kF32, 0.25F, 1, 7, 0}, {x}));
  Recipe recipe = builder.finish().recipe;
  PostOp sum, eltwise, binary;
  sum.kind = PostOpKind::kSum;
  sum.operand = recipe.inputs[0].tensor;
  eltwise.eltwise = Eltwise{EltwiseFunction::kElu, 2, 0};
  binary.kind = PostOpKind::kBinary;
  binary.operand = recipe.inputs[0].tensor;
  recipe.ops[0].post_ops = {sum, eltwise, binary};
  return recipe;
}

TEST(RecipeCodec, GivesBackEveryOperatorAndPostOp) {
  const Recipe recipe = everything();
  const Recipe copy = decoded(encoded(recipe));
  EXPECT_EQ(encoded(copy), encoded(recipe));
  ASSERT_EQ(copy.ops.size(), recipe.ops.size());
  EXPECT_EQ(describe(copy.ops[0]), "Convolution 'op0'");
  EXPECT_EQ(copy.ops[0].post_ops[1].eltwise.alpha, 2);
  EXPECT_EQ(get_if<Lrn>(copy.ops[3])->beta, 0.7F);
}

TEST(RecipeCodec, GivesBackElementTypesAndQuantization) {
  Recipe recipe;
  recipe.tensors = {
      {{2, 3}, ElementType::kU8}, {{3, 4}, ElementType::kS8}, {{2, 4}, ElementType::kS8}};
  recipe.inputs = {{0, {2, 3}}};
  recipe.constants = {1};
  recipe.outputs = {{2, {2, 4}}};
  Op op;
  op.parameters = MatMul{};
  op.inputs = {0, 1};
  op.output = 2;
  op.quantization = Quantization{{0.5F, 1, 2, 4}, 3, -5, -128};
  recipe.ops = {op};
  const Recipe copy = decoded(encoded(recipe));
  EXPECT_EQ(encoded(copy), encoded(recipe));
  EXPECT_EQ(copy.type(2), ElementType::kS8);
  EXPECT_EQ(copy.ops[0].quantization->scales, op.quantization->scales);
  EXPECT_EQ(copy.ops[0].quantization->weights_zero_point, -5);
  recipe.ops[0].quantization->scales[2] = 0;
  EXPECT_THROW(static_cast<void>(decoded(encoded(recipe))), Malformed);
}

TEST(RecipeCodec, RefusesATruncationAtEveryByte) {
  const std::string bytes = encoded(everything());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(static_cast<void>(decoded(bytes.substr(0, size))), Malformed) << size;
  }
  EXPECT_THROW(static_cast<void>(decoded(bytes + '\0')), Malformed);
}

TEST(RecipeCodec, RefusesUnknownOperatorsAndEnumerators) {
  test::SampleBuilder builder;
  builder.output(builder.add(Eltwise{EltwiseFunction::kRelu, 0, 0}, {builder.input({2})}));
  const std::string bytes = encoded(builder.finish().recipe);
  // The operation: number of operations, then operator and function, one byte each.
  const std::size_t at = bytes.find(std::string("\x01\0\0\0\x07\0", 6));
  ASSERT_NE(at, std::string::npos);
  std::string unknown = bytes;
  unknown[at + 4] = 14;
  EXPECT_THROW(static_cast<void>(decoded(unknown)), Malformed);
  unknown = bytes;
  unknown[at + 5] = static_cast<char>(last_of(EltwiseFunction{})) + 1;
  EXPECT_THROW(static_cast<void>(decoded(unknown)), Malformed);
}

TEST(RecipeCodec, RefusesCountsBeyondTheBytesBeforeItAllocates) {
  ByteWriter writer;
  writer.number(uint32_t{0xffffffff});
  writer.number(uint64_t{0});
  EXPECT_THROW(static_cast<void>(decoded(writer.bytes())), Malformed);
}

TEST(RecipeCodec, SurvivesRandomDamage) {
  const std::string bytes = encoded(everything());
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = bytes;
    for (uint32_t i = 0; i < 1 + random() % 4; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    try {
      static_cast<void>(decoded(damaged));
    } catch (const Malformed&) {
    }
  }
}

}  // namespace
}  // namespace ephost_dnnl::recipe_codec_test
