#include "plugins/dnnl/library/defects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <oneapi/dnnl/dnnl.hpp>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/dnnl/executor/primitives/primitive_attempt.h"
#include "plugins/dnnl/library/primitives.h"
#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost_dnnl::defects_test {
namespace {

// The result of clip(x, 1, 2), then clip(x, 3, 4), on zeros in one primitive: an oracle that shares
// no code with the unit under test.
float clip_twice() {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const Descriptor layout = row_major({8, 8});
  dnnl::post_ops post_ops;
  append_eltwise(post_ops, dnnl::algorithm::eltwise_clip, 1, 2);
  append_eltwise(post_ops, dnnl::algorithm::eltwise_clip, 3, 4);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post_ops);
  const dnnl::primitive_desc_base descriptor =
      describe_matmul({engine, attributes}, layout, layout, nullptr, layout);
  std::vector<float> zeros(64, 0), result(64, 0);
  const dnnl::memory from(layout, engine, zeros.data()), to(layout, engine, result.data());
  dnnl::stream stream(engine);
  dnnl::primitive(descriptor.get())
      .execute(stream, {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, from}, {DNNL_ARG_DST, to}});
  stream.wait();
  return result[0];
}

TEST(Defects, SayWhetherTheLibraryMixesUpTwoPostOpsOfOneAlgorithm) {
  EXPECT_EQ(mixes_up_equal_post_ops(), clip_twice() != 3);
}

TEST(Defects, AreFoundByWhicheverThreadAsksFirst) {
  bool answers[4] = {};
  std::vector<std::thread> threads;
  for (bool& answer : answers) {
    threads.emplace_back([&answer] { answer = mixes_up_equal_post_ops(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const bool answer : answers) EXPECT_EQ(answer, answers[0]);
}

// A product of matrices with these functions as post-ops.
bool is_offered(const std::vector<Eltwise>& functions) {
  test::SampleBuilder builder;
  builder.output(builder.add(MatMul{}, {builder.input({4, 8}), builder.constant({8, 16})}));
  Recipe recipe = builder.finish().recipe;
  for (const Eltwise& function : functions) {
    PostOp post_op;
    post_op.eltwise = function;
    recipe.ops[0].post_ops.push_back(post_op);
  }
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  try {
    const std::vector<bool> is_constant = {false, true, false};
    static_cast<void>(choose_primitive(plain_request(recipe, recipe.ops[0], is_constant), engine));
    return true;
  } catch (const NoPrimitive&) {
    return false;
  }
}

TEST(PrimitiveChoice, OffersTwoPostOpsOfOneFunctionOnlyWhereTheLibraryKeepsThemApart) {
  const Eltwise relu{EltwiseFunction::kRelu, 0, 0}, leaky{EltwiseFunction::kRelu, 0.5F, 0};
  const Eltwise tanh{EltwiseFunction::kTanh, 0, 0};
  EXPECT_EQ(is_offered({leaky, relu}), !mixes_up_equal_post_ops());
  EXPECT_EQ(is_offered({leaky, tanh, relu}), !mixes_up_equal_post_ops());
  EXPECT_TRUE(is_offered({leaky, tanh}));
}

TEST(PrimitiveChoice, RemovesPaddingOfChannelsForArithmeticPostOps) {
  test::SampleBuilder builder;
  const Dims dims = {1, 5, 4, 4};
  builder.output(builder.add(Binary{}, {builder.input(dims), builder.input(dims)}));
  Op op = builder.finish().recipe.ops[0];
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  for (const auto tag : {dnnl::memory::format_tag::nChw8c, dnnl::memory::format_tag::nChw16c}) {
    const Descriptor padded(dims, dnnl::memory::data_type::f32, tag);
    PrimitiveRequest request;
    request.op = &op;
    request.inputs = {{dims, padded}, {dims, padded}};
    request.output_dims = dims;
    op.post_ops.clear();
    // oneDNN 3 does not work on all layouts with padding.
    if (!has_padding(choose_primitive(request, engine).output)) continue;
    op.post_ops.resize(1);
    request.post_op_operands.resize(1);
    EXPECT_FALSE(has_padding(choose_primitive(request, engine).output));
  }
}

TEST(PrimitiveChoice, RemovesPaddingOfChannelsForLayerNormalization) {
  test::SampleBuilder builder;
  const Dims dims = {1, 5, 4, 4}, scale = {4};
  builder.output(builder.add(LayerNormalization{}, {builder.input(dims), builder.input(scale)}));
  const Op op = builder.finish().recipe.ops[0];
  const Descriptor padded(dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nChw8c);
  PrimitiveRequest request;
  request.op = &op;
  request.inputs = {{dims, padded}, {scale, row_major(scale)}};
  request.output_dims = dims;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  EXPECT_FALSE(has_padding(choose_primitive(request, engine).output));
}

// Their code for post-ops gives NaN for Relu of negative infinity.
TEST(PrimitiveChoice, FusesNothingIntoPoolingsWithoutGeneratedCode) {
  test::SampleBuilder builder;
  const Dims dims = {2, 24, 1};
  builder.output(builder.add(Pooling{PoolingKind::kAverageExcludePadding, {1}, {1}, {1}, {0}, {0}},
                             {builder.input(dims)}));
  Recipe recipe = builder.finish().recipe;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const std::vector<bool> is_constant(recipe.tensors.size(), false);
  recipe.ops[0].post_ops.resize(1);
  const PrimitiveChoice choice =
      choose_primitive(plain_request(recipe, recipe.ops[0], is_constant), engine);
  const std::string name = choice.descriptor.impl_info_str();
  EXPECT_EQ(choice.is_reference, !name.starts_with("jit")) << name;
}

// The result of a primitive for data of negative infinity and other operands of one.
std::vector<float> of_negative_infinity(const PrimitiveChoice& choice, const dnnl::engine& engine) {
  std::unordered_map<int, dnnl::memory> arguments;
  const auto add = [&](int argument, const Descriptor& layout, float fill) {
    const dnnl::memory memory(layout, engine);
    std::fill_n(static_cast<float*>(memory.get_data_handle()), layout.get_size() / sizeof(float),
                fill);
    return arguments[argument] = memory;
  };
  for (const ChosenInput& input : choice.inputs) {
    const bool is_data = input.argument == DNNL_ARG_SRC || input.argument == DNNL_ARG_SRC_0;
    add(input.argument, input.layout, is_data ? -std::numeric_limits<float>::infinity() : 1.0F);
  }
  const Descriptor scratchpad = choice.descriptor.query_md(dnnl::query::scratchpad_md, 0);
  if (scratchpad.get_size() > 0) {
    arguments[DNNL_ARG_SCRATCHPAD] = dnnl::memory(scratchpad, engine);
  }
  const dnnl::memory output = add(DNNL_ARG_DST, choice.output, -1);
  dnnl::stream stream(engine);
  dnnl::primitive(choice.descriptor.get()).execute(stream, arguments);
  stream.wait();
  const auto* first = static_cast<const float*>(output.get_data_handle());
  return {first, first + choice.output.get_size() / sizeof(float)};
}

TEST(PrimitiveChoice, FusesReluOnlyWhereNegativeInfinityBecomesZero) {
  const Dims data = {2, 3, 5, 4}, channel = {3};
  const Pooling window{PoolingKind::kAverageExcludePadding, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  const Convolution plain{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
  const std::vector<std::pair<Parameters, std::vector<Dims>>> operations = {
      {BatchNormalization{}, {data, channel, channel, channel, channel}},
      {window, {data}},
      {Binary{BinaryFunction::kAdd}, {data, data}},
      {MatMul{}, {{4, 8}, {8, 16}}},
      {plain, {data, {6, 3, 2, 2}}},
  };
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  for (const auto& [parameters, inputs] : operations) {
    test::SampleBuilder builder;
    std::vector<TensorId> tensors;
    for (const Dims& dims : inputs) tensors.push_back(builder.input(dims));
    builder.output(builder.add(parameters, tensors));
    Recipe recipe = builder.finish().recipe;
    recipe.ops[0].post_ops.resize(1);
    const std::vector<bool> is_constant(recipe.tensors.size(), false);
    const PrimitiveChoice choice =
        choose_primitive(plain_request(recipe, recipe.ops[0], is_constant), engine);
    if (choice.is_reference) continue;  // nothing is fused
    for (const float number : of_negative_infinity(choice, engine)) {
      EXPECT_EQ(number, 0) << describe(recipe.ops[0]) << " " << choice.descriptor.impl_info_str();
    }
  }
}

// The defect concerns algorithms: if two functions became one algorithm, they would share
// parameters too.
TEST(PrimitiveChoice, GivesEachFunctionAnAlgorithmOfItsOwn) {
  std::set<dnnl::algorithm> algorithms;
  for (uint8_t i = 0; i <= static_cast<uint8_t>(last_of(EltwiseFunction())); ++i) {
    EXPECT_TRUE(algorithms.insert(to_library(static_cast<EltwiseFunction>(i))).second) << int{i};
  }
}

}  // namespace
}  // namespace ephost_dnnl::defects_test
