#include "plugins/dnnl/library/primitives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "plugins/dnnl/library/descriptor.h"

namespace ephost_dnnl {
namespace {

const dnnl::engine& engine() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

// x * clip(x / 6 + 1 / 2, 0, 1)
float hard_swish(float x) { return x * std::clamp(x / 6 + 0.5F, 0.0F, 1.0F); }

constexpr float kSamples[] = {-4, -2, -0.5F, 0, 0.5F, 1, 2, 4};

std::vector<float> results_of(const dnnl::primitive_desc_base& descriptor,
                              const std::vector<int>& inputs) {
  const Descriptor layout = row_major({std::ssize(kSamples)});
  std::vector<float> in(std::begin(kSamples), std::end(kSamples)), out(in.size(), -1);
  std::unordered_map<int, dnnl::memory> arguments;
  for (const int input : inputs) arguments[input] = dnnl::memory(layout, engine(), in.data());
  arguments[DNNL_ARG_DST] = dnnl::memory(layout, engine(), out.data());
  dnnl::stream stream(engine());
  dnnl::primitive(descriptor.get()).execute(stream, arguments);
  stream.wait();
  return out;
}

TEST(Primitives, ComputeHardSwishWithTheParametersOfOnnx) {
  const dnnl::primitive_attr attributes;
  const std::vector<float> found =
      results_of(describe_eltwise({engine(), attributes}, dnnl::algorithm::eltwise_hardswish,
                                  row_major({std::ssize(kSamples)}), 0, 0),
                 {DNNL_ARG_SRC});
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], hard_swish(kSamples[i]), 1e-6F) << kSamples[i];
  }
}

TEST(Primitives, ComputeHardSwishAsAPostOp) {
  dnnl::post_ops post_ops;
  append_eltwise(post_ops, dnnl::algorithm::eltwise_hardswish, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post_ops);
  const Descriptor layout = row_major({std::ssize(kSamples)});
  const std::vector<float> found = results_of(
      describe_binary({engine(), attributes}, dnnl::algorithm::binary_add, layout, layout, layout),
      {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1});
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], hard_swish(2 * kSamples[i]), 1e-6F) << kSamples[i];
  }
}

// Ones in the layout that a primitive wants for an argument.
dnnl::memory ones_for(const dnnl::primitive_desc_base& descriptor, int argument) {
  const Descriptor layout = descriptor.query_md(dnnl::query::exec_arg_md, argument);
  const dnnl::memory memory(layout, engine());
  std::fill_n(static_cast<float*>(memory.get_data_handle()), layout.get_size() / sizeof(float), 1);
  return memory;
}

TEST(Primitives, ComputeOneColumnOfOneChannel) {
  const auto floats = [](const dnnl::memory::dims& dims) {
    return Descriptor(dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
  };
  const dnnl::memory::dims output = {1, 16, 6, 1};
  const dnnl::primitive_attr attributes;
  for (std::size_t implementation = 0; implementation < 4; ++implementation) {
    const auto descriptor =
        describe_convolution({engine(), attributes, implementation},
                             {floats({1, 1, 6, 3}), floats({16, 1, 1, 3}), floats(output), nullptr},
                             {{1, 2}, {0, 0}, {0, 0}, {0, 0}});
    const dnnl::memory x = ones_for(descriptor, DNNL_ARG_SRC);
    const dnnl::memory weights = ones_for(descriptor, DNNL_ARG_WEIGHTS);
    dnnl::memory y = ones_for(descriptor, DNNL_ARG_DST);
    std::vector<float> found(16 * 6, -1);
    dnnl::memory plain(row_major(output), engine(), found.data());
    dnnl::stream stream(engine());
    dnnl::primitive(descriptor.get())
        .execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, y}});
    dnnl::reorder(y, plain).execute(stream, y, plain);
    stream.wait();
    EXPECT_THAT(found, testing::Each(3)) << descriptor.impl_info_str();
  }
}

TEST(LayoutFields, DescribeBlocksAndPadding) {
  const Descriptor layout({2, 20, 3, 5}, dnnl::memory::data_type::f32,
                          dnnl::memory::format_tag::nChw16c);
  const LayoutFields fields = layout_fields(layout);
  const auto list = [](const dnnl_dims_t& values, int count) {
    return Dims(values, values + count);
  };
  ASSERT_EQ(fields.ndims, 4);
  EXPECT_EQ(fields.data_type, dnnl_f32);
  EXPECT_EQ(list(fields.dims, 4), (Dims{2, 20, 3, 5}));
  EXPECT_EQ(list(fields.padded_dims, 4), (Dims{2, 32, 3, 5}));
  EXPECT_EQ(list(fields.padded_offsets, 4), (Dims{0, 0, 0, 0}));
  EXPECT_EQ(fields.offset, 0);
  EXPECT_TRUE(fields.is_blocked);
  EXPECT_FALSE(fields.has_extra);
  EXPECT_EQ(list(fields.strides, 4), (Dims{480, 240, 80, 16}));
  ASSERT_EQ(fields.inner_block_count, 1);
  EXPECT_EQ(fields.inner_block_sizes[0], 16);
  EXPECT_EQ(fields.inner_block_dims[0], 1);
}

TEST(LayoutFields, DescribeThatNoLayoutIsChosen) {
  const LayoutFields fields = layout_fields(any_layout({4, 2}));
  EXPECT_EQ(fields.ndims, 2);
  EXPECT_FALSE(fields.is_blocked);
  EXPECT_EQ(fields.inner_block_count, 0);
}

TEST(InstructionSet, HasTheNameThatOneDnnGivesIt) {
  const std::set<std::string> known = {"sse41",
                                       "avx",
                                       "avx2",
                                       "avx2_vnni",
                                       "avx2_vnni_2",
                                       "avx512_core",
                                       "avx512_core_vnni",
                                       "avx512_core_bf16",
                                       "avx512_mic",
                                       "avx512_mic_4ops",
                                       "avx512_core_fp16",
                                       "avx512_core_amx",
                                       "avx512_core_amx_fp16"};
  EXPECT_EQ(known.count(instruction_set()), 1U) << instruction_set();
}

}  // namespace
}  // namespace ephost_dnnl
