#include "plugins/dnnl/executor/primitives/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/dnnl/executor/assembler.h"
#include "plugins/dnnl/executor/primitives/nan_trial.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/library/primitives.h"
#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost_dnnl::trial_test {
namespace {

using test::SampleBuilder;
using ::testing::HasSubstr;

const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);

// The work of a recipe with one operation on these inputs.
double work(const Parameters& parameters, const std::vector<Dims>& inputs) {
  SampleBuilder builder;
  std::vector<TensorId> tensors;
  for (const Dims& dims : inputs) tensors.push_back(builder.input(dims));
  builder.output(builder.add(parameters, tensors));
  const Recipe recipe = builder.finish().recipe;
  return work_of(recipe, recipe.ops[0]);
}

TEST(Trial, EstimatesTheWorkOfAnOperation) {
  EXPECT_EQ(work(MatMul{}, {{2, 3, 4}, {4, 5}}), 2 * 3 * 4 * 5);
  EXPECT_EQ(work(test::convolution_3x3(), {{1, 8, 6, 6}, {4, 8, 3, 3}}), 4 * 6 * 6 * 8 * 9);
  EXPECT_EQ(
      work(Pooling{PoolingKind::kMax, {2, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {{1, 2, 4, 4}}),
      2 * 3 * 2 * 6);
  EXPECT_EQ(work(Binary{}, {{3, 4}, {1, 4}}), 12 + 12 + 4);
}

// The product of two square matrices.
struct Product {
  explicit Product(int64_t extent) {
    SampleBuilder builder;
    const Dims dims = {extent, extent};
    builder.output(builder.add(MatMul{}, {builder.input(dims), builder.input(dims)}));
    lowered = builder.finish();
    PackingSource constants(lowered.constants, kEngine, {});
    program = assemble(lowered.recipe, constants, kEngine);
    create_primitives(program, 1);
  }
  LoweredPartition lowered;
  Program program;
};

TEST(Trial, AcceptsStepsThatWorkWhateverTheyCost) {
  for (const int64_t extent : {8, 256, 1024}) {
    const Product product(extent);
    EXPECT_NO_THROW(try_out(product.lowered.recipe, product.program, kEngine)) << extent;
  }
}

// Numbers that come from NaN by a comparison show themselves; x^0 compares nothing.
TEST(Trial, FindsPrimitivesThatHideNan) {
  using dnnl::algorithm;
  const Descriptor layout = row_major({4, 24});
  for (const auto& [function, hides] :
       {std::pair{algorithm::eltwise_pow, true}, std::pair{algorithm::eltwise_relu, false},
        std::pair{algorithm::eltwise_clip, false}, std::pair{algorithm::eltwise_exp, false},
        std::pair{algorithm::eltwise_abs, false}}) {
    const dnnl::primitive_attr attributes;
    Program program;
    program.buffers = {{Place::kInput, 0}, {Place::kOutput, 0}};
    program.views = {{0, layout}, {1, layout}};
    Step& step = program.steps.emplace_back();
    step.primitive =
        dnnl::primitive(describe_eltwise({kEngine, attributes}, function, layout, 0, 0).get());
    step.arguments = {{DNNL_ARG_SRC, 0}, {DNNL_ARG_DST, 1}};
    EXPECT_EQ(hides_nan(Recipe(), program, 0, kEngine), hides) << static_cast<int>(function);
  }
}

TEST(Trial, RefusesExpensiveStepsWhoseArgumentsHaveOtherLayouts) {
  Product product(1024);
  View& view = product.program.views[product.program.steps[0].arguments[0].view];
  view.layout = row_major_after(dims_of(view.layout), {1, 0});
  try {
    try_out(product.lowered.recipe, product.program, kEngine);
    FAIL() << "the step was accepted";
  } catch (const StepFailed& failure) {
    EXPECT_EQ(failure.step, 0U);
    EXPECT_THAT(failure.what(), HasSubstr("MatMul 'op0' in another layout"));
  }
}

TEST(PrimitiveChoice, TriesTheLibrarysPrimitivesUntilNoneIsLeft) {
  SampleBuilder builder;
  builder.output(builder.add(test::convolution_3x3(),
                             {builder.input({1, 16, 6, 6}), builder.constant({16, 16, 3, 3})}));
  Recipe recipe = builder.finish().recipe;
  const std::vector<bool> is_constant = {false, true, false};
  std::vector<std::string> implementations;
  EXPECT_THROW(
      for (;; ++recipe.ops[0].failed_primitives) {
        const PrimitiveChoice choice =
            choose_primitive(plain_request(recipe, recipe.ops[0], is_constant), kEngine);
        implementations.emplace_back(choice.descriptor.impl_info_str());
        EXPECT_EQ(dims_of(choice.output), (Dims{1, 16, 6, 6}));
        // The content of the library's cache must not change the order.
        dnnl::primitive(choice.descriptor.get());
      },
      NoPrimitive);
  EXPECT_GE(implementations.size(), 2U);
  for (std::size_t i = 1; i < implementations.size(); ++i) {
    EXPECT_NE(implementations[i], implementations[i - 1]);
  }
  EXPECT_EQ(implementations.back().substr(0, 3), "ref");
}

TEST(RepackingSource, GivesTheSameElementsInAnotherLayoutAndForm) {
  const Dims dims = {20, 8, 3, 3};
  const auto blocked = [](const Dims& form) {
    return Descriptor(form, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ABcd16b16a);
  };
  SampleBuilder builder;
  const TensorId tensor = builder.constant(dims);
  const LoweredPartition lowered = builder.finish();
  PackingSource model(lowered.constants, kEngine, {});
  const std::vector<PackedConstant> packed = {model.get(tensor, row_major(dims), blocked(dims))};
  RepackingSource source(packed, kEngine);
  EXPECT_EQ(source.get(tensor, row_major(dims), blocked(dims)).data, packed[0].data);
  const PackedConstant plain = source.get(tensor, row_major({20, 72}), row_major({20, 72}));
  const auto* elements = static_cast<const float*>(plain.data);
  for (std::size_t i = 0; i < 20 * 72; ++i) {
    ASSERT_EQ(elements[i], lowered.constants.data(tensor)[i]) << i;
  }
  EXPECT_THROW(static_cast<void>(source.get(tensor + 1, row_major({1}), row_major({1}))),
               LayoutMismatch);
}

}  // namespace
}  // namespace ephost_dnnl::trial_test
