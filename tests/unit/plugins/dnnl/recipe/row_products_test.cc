#include "plugins/dnnl/recipe/row_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "plugins/dnnl/recipe/shape_rules.h"
#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost_dnnl::row_products_test {
namespace {

using test::SampleBuilder;
using ::testing::HasSubstr;

// Why a recipe of [2, 3, 4] is refused, or "accepted".
std::string refusal(
    const std::function<TensorId(SampleBuilder&, TensorId)>& build,
    const std::function<void(Recipe&)>& change = [](Recipe&) {}) {
  SampleBuilder builder;
  builder.output(build(builder, builder.input({2, 3, 4})));
  Recipe recipe = builder.finish().recipe;
  change(recipe);
  check_recipe(recipe);
  try {
    static_cast<void>(row_products(recipe));
    return "accepted";
  } catch (const InvalidRecipe& error) {
    return error.what();
  }
}

TensorId product(SampleBuilder& builder, TensorId x) {
  return builder.add(MatMul{}, {x, builder.constant({4, 4})});
}

PostOp with_operand(PostOpKind kind, TensorId operand) {
  PostOp post_op;
  post_op.kind = kind;
  post_op.operand = operand;
  return post_op;
}

TEST(RowProducts, LookThroughViewsOfConstants) {
  SampleBuilder builder;
  const TensorId x = builder.input({2, 3, 4}), weights = builder.constant({5, 4}),
                 bias = builder.constant({1, 1, 5}), factor = builder.constant({5});
  const TensorId transposed = builder.add(Transpose{{1, 0}}, {weights});
  const TensorId vector = builder.add(Reshape{{5}}, {bias});
  const TensorId row = builder.add(Reshape{{1, 1, 5}}, {factor});
  const TensorId y = builder.add(MatMul{}, {x, transposed, vector});
  const TensorId second = builder.constant({5, 6});
  builder.output(builder.add(MatMul{}, {y, second}));
  Recipe recipe = builder.finish().recipe;
  recipe.ops[3].post_ops = {PostOp{}, with_operand(PostOpKind::kBinary, row)};
  check_recipe(recipe);
  const std::vector<RowProduct> products = row_products(recipe);
  ASSERT_EQ(products.size(), 2U);
  EXPECT_EQ(products[0].weights, weights);
  EXPECT_TRUE(products[0].is_transposed);
  EXPECT_EQ(products[0].bias, bias);
  EXPECT_EQ(products[0].operands[1], factor);
  EXPECT_EQ(products[0].depth, 4);
  EXPECT_EQ(products[0].columns, 5);
  EXPECT_EQ(products[1].weights, second);
  EXPECT_FALSE(products[1].is_transposed);
  EXPECT_FALSE(products[1].bias);
}

TEST(RowProducts, RefuseWhatMixesRows) {
  EXPECT_EQ(refusal(&product), "accepted");
  EXPECT_THAT(refusal([](SampleBuilder& builder, TensorId x) {
                return builder.add(Reshape{{2, 3, 4}}, {product(builder, x)});
              }),
              HasSubstr("Reshape 'op1' is not a product of rows"));
  EXPECT_THAT(refusal([](SampleBuilder& builder, TensorId x) {
                return builder.add(Transpose{{1, 0, 2}}, {product(builder, x)});
              }),
              HasSubstr("is not a product of rows"));
  EXPECT_THAT(refusal([](SampleBuilder& builder, TensorId x) {
                return builder.add(Softmax{0, 0}, {product(builder, x)});
              }),
              HasSubstr("is not a product of rows"));
  EXPECT_THAT(refusal([](SampleBuilder& builder, TensorId x) {
                return builder.add(MatMul{}, {x, builder.constant({2, 4, 4})});
              }),
              HasSubstr("is not a product of rows with a constant matrix"));
  EXPECT_THAT(refusal([](SampleBuilder& builder, TensorId x) {
                return builder.add(MatMul{}, {builder.constant({2, 3, 3}), x});
              }),
              HasSubstr("is not a product of rows"));
}

TEST(RowProducts, RefuseOperandsThatDifferFromRowToRow) {
  const auto with = [](const Dims& dims) {
    TensorId operand = 0;
    return refusal(
        [&](SampleBuilder& builder, TensorId x) {
          operand = builder.constant(dims);
          return product(builder, x);
        },
        [&](Recipe& recipe) {
          recipe.ops[0].post_ops = {with_operand(PostOpKind::kBinary, operand)};
        });
  };
  EXPECT_EQ(with({1, 1, 4}), "accepted");
  EXPECT_EQ(with({1, 1, 1}), "accepted");
  EXPECT_THAT(with({1, 3, 4}), HasSubstr("differs from row to row"));
  EXPECT_THAT(with({2, 1, 1}), HasSubstr("differs from row to row"));
}

TEST(RowProducts, RefuseSumsOfRows) {
  EXPECT_THAT(
      refusal(
          [](SampleBuilder& builder, TensorId x) { return product(builder, product(builder, x)); },
          [](Recipe& recipe) {
            recipe.ops[1].post_ops = {with_operand(PostOpKind::kSum, recipe.ops[0].output)};
          }),
      HasSubstr("adds a tensor of rows"));
  EXPECT_THAT(refusal(&product,
                      [](Recipe& recipe) {
                        recipe.ops[0].post_ops = {
                            with_operand(PostOpKind::kBinary, recipe.inputs[0].tensor)};
                      }),
              HasSubstr("reads what is not constant"));
}

TEST(RowProducts, RefuseTransposedViewsInAnotherShape) {
  EXPECT_THAT(refusal([](SampleBuilder& builder, TensorId x) {
                const TensorId swapped = builder.add(Transpose{{1, 0}}, {builder.constant({2, 8})});
                return builder.add(MatMul{}, {x, builder.add(Reshape{{4, 4}}, {swapped})});
              }),
              HasSubstr("moves the elements of a constant"));
  EXPECT_THAT(
      refusal([](SampleBuilder& builder, TensorId x) {
        const TensorId moved = builder.add(Transpose{{1, 0, 2}}, {builder.constant({2, 2, 4})});
        return builder.add(MatMul{}, {x, builder.add(Reshape{{4, 4}}, {moved})});
      }),
      HasSubstr("moves the elements of a constant"));
}

TEST(RowProducts, RefuseOtherInputsAndOutputs) {
  EXPECT_THAT(refusal([](SampleBuilder&, TensorId x) { return x; }),
              HasSubstr("the output is not the last product"));
  EXPECT_THAT(
      refusal(&product, [](Recipe& recipe) { recipe.outputs.push_back(recipe.outputs[0]); }),
      HasSubstr("one input and one output"));
  EXPECT_THAT(refusal(&product, [](Recipe& recipe) { recipe.outputs[0].shape = {24}; }),
              HasSubstr("the output is not the last product"));
  EXPECT_THAT(refusal(&product, [](Recipe& recipe) { recipe.inputs[0].shape = {24}; }),
              HasSubstr("a vector is not a tensor of rows"));
  EXPECT_THAT(refusal(&product, [](Recipe& recipe) { recipe.ops[0].failed_primitives = 1; }),
              HasSubstr("is not a product of rows"));
}

}  // namespace
}  // namespace ephost_dnnl::row_products_test
