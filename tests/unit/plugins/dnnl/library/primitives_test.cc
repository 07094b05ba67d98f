#include "plugins/dnnl/library/primitives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/dnnl/library/descriptor.h"

namespace ephost_dnnl::primitives_test {
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

struct Tensor {
  dnnl::memory::dims dims;
  dnnl::memory::data_type type;

  [[nodiscard]] Descriptor any() const { return {dims, type, dnnl::memory::format_tag::any}; }
};

// Copies between a layout that oneDNN chooses and row-major numbers.
void copy(dnnl::memory from, dnnl::memory to) {
  dnnl::stream stream(engine());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

dnnl::memory filled(float number, const Tensor& tensor, const Descriptor& layout) {
  const Descriptor plain = row_major(tensor.dims);
  std::vector<float> numbers(plain.get_size() / sizeof(float), number);
  dnnl::memory memory(layout, engine());
  copy(dnnl::memory(plain, engine(), numbers.data()), memory);
  return memory;
}

// By the first implementations. The output has one column, as the window is as wide as the data.
// The weights are even, as some instruction sets halve them.
void expect_sums_of_rows(const Tensor& x, const Tensor& weights, const Tensor& y,
                         std::size_t implementations) {
  const dnnl::primitive_attr attributes;
  for (std::size_t implementation = 0; implementation < implementations; ++implementation) {
    dnnl::primitive_desc_base descriptor;
    try {
      descriptor = describe_convolution({engine(), attributes, implementation},
                                        {x.any(), weights.any(), y.any(), nullptr},
                                        {{1, 2}, {0, 0}, {0, 0}, {0, 0}});
    } catch (const dnnl::error&) {
      ASSERT_GT(implementation, 0) << "oneDNN has none that is right";
      return;
    }
    const auto layout = [&](int argument) {
      return descriptor.query_md(dnnl::query::exec_arg_md, argument);
    };
    const dnnl::memory sums(layout(DNNL_ARG_DST), engine());
    dnnl::stream stream(engine());
    dnnl::primitive(descriptor.get())
        .execute(stream, {{DNNL_ARG_SRC, filled(1, x, layout(DNNL_ARG_SRC))},
                          {DNNL_ARG_WEIGHTS, filled(2, weights, layout(DNNL_ARG_WEIGHTS))},
                          {DNNL_ARG_DST, sums}});
    stream.wait();
    std::vector<float> found(static_cast<std::size_t>(y.dims[1] * y.dims[2]), -1);
    copy(sums, dnnl::memory(row_major(y.dims), engine(), found.data()));
    EXPECT_THAT(found, ::testing::Each(6)) << descriptor.impl_info_str();
  }
}

TEST(Primitives, ComputeOneColumnOfOneChannel) {
  using Type = dnnl::memory::data_type;
  expect_sums_of_rows({{1, 1, 6, 3}, Type::f32}, {{16, 1, 1, 3}, Type::f32},
                      {{1, 16, 6, 1}, Type::f32}, 4);
  for (const int64_t outputs : {1, 2, 3}) {
    for (const Type type : {Type::f32, Type::u8, Type::s8}) {
      const bool is_float = type == Type::f32;
      expect_sums_of_rows(
          {{1, 20, 6, 3}, type}, {{20, outputs, 1, 1, 3}, is_float ? Type::f32 : Type::s8},
          {{1, 20 * outputs, 6, 1}, is_float ? Type::f32 : Type::s32}, is_float ? 4 : 1);
    }
  }
}

// Of some numbers of channels, oneDNN divides by zero in layouts that it chooses itself.
TEST(Primitives, ConvolutionsOfOneElementAreMadeOrRefused) {
  using Type = dnnl::memory::data_type;
  const dnnl::primitive_attr attributes;
  for (const auto& [inputs, outputs] : std::vector<std::pair<int64_t, int64_t>>{
           {256, 512}, {256, 1024}, {512, 1024}, {512, 2048}, {1024, 512}, {1024, 2048}}) {
    for (const int64_t groups : {1, 2}) {
      const Tensor x = {{1, groups * inputs, 4, 4}, Type::f32};
      const Tensor y = {{1, groups * outputs, 4, 4}, Type::f32};
      Tensor weights = {{outputs, inputs, 1, 1}, Type::f32};
      if (groups > 1) weights.dims.insert(weights.dims.begin(), groups);
      const auto describe = [&](const Descriptor& from, Type of_weights, const Descriptor& to) {
        const Descriptor any = {weights.dims, of_weights, dnnl::memory::format_tag::any};
        return describe_convolution({engine(), attributes}, {from, any, to, nullptr},
                                    {{1, 1}, {0, 0}, {0, 0}, {0, 0}});
      };
      const std::string name = describe(x.any(), Type::f32, y.any()).impl_info_str();
      EXPECT_EQ(name.find("ref"), name.npos) << name;
      const auto last = [](const Tensor& tensor, Type type) {
        return Descriptor(tensor.dims, type, dnnl::memory::format_tag::nhwc);
      };
      try {
        (void)describe(last(x, Type::u8), Type::s8, last(y, Type::u8));
      } catch (const dnnl::error& error) {
        EXPECT_EQ(error.status, dnnl_unimplemented) << error.what();
      }
    }
  }
}

// Of rows of less than a word, version 3.7.2 writes until it crashes.
TEST(Primitives, ConcatenationsOfTinyRowsAreRight) {
  using Type = dnnl::memory::data_type;
  constexpr int64_t kRows = 3, kOther = 5;
  const dnnl::primitive_attr attributes;
  const auto layout = [](int64_t length) {
    return Descriptor({kRows, length}, Type::u8, dnnl::memory::format_tag::ab);
  };
  for (int64_t tiny = 0; tiny < 8; ++tiny) {
    for (int64_t offset = 0; offset < 4; ++offset) {
      const dnnl::primitive_desc_base descriptor = describe_concat(
          {engine(), attributes}, {layout(tiny), layout(kOther)}, 1,
          Descriptor({kRows, tiny + kOther}, Type::u8, dnnl::memory::format_tag::any));
      const Descriptor made = descriptor.query_md(dnnl::query::dst_md, 0);
      const bool by_columns = made != layout(tiny + kOther);
      std::vector<uint8_t> a(static_cast<std::size_t>(kRows * tiny) + 1, 1), b(kRows * kOther, 2);
      std::vector<uint8_t> to(static_cast<std::size_t>(offset + kRows * (tiny + kOther)), 0);
      std::vector<uint8_t> expected(static_cast<std::size_t>(offset), 0);
      for (int64_t i = 0; i < kRows * (tiny + kOther); ++i) {
        const int64_t column = by_columns ? i / kRows : i % (tiny + kOther);
        expected.push_back(column < tiny ? 1 : 2);
      }
      dnnl::stream stream(engine());
      dnnl::primitive(descriptor.get())
          .execute(stream, {{DNNL_ARG_MULTIPLE_SRC, {layout(tiny), engine(), a.data()}},
                            {DNNL_ARG_MULTIPLE_SRC + 1, {layout(kOther), engine(), b.data()}},
                            {DNNL_ARG_DST, {made, engine(), to.data() + offset}}});
      stream.wait();
      EXPECT_EQ(to, expected) << tiny << " " << offset;
    }
  }
}

// Made for a later machine, those crash when they are made or run.
TEST(Primitives, WithPostOpsAreNotOfSse41UnlessTheMachineIs) {
  if (dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::sse41) {
    GTEST_SKIP() << "on this machine, all code of the library is for SSE4.1";
  }
  dnnl::post_ops post_ops;
  append_eltwise(post_ops, dnnl::algorithm::eltwise_sqrt, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post_ops);
  using Type = dnnl::memory::data_type;
  const Tensor x = {{1, 9, 6, 9}, Type::f32}, weights = {{9, 1, 1, 2, 1}, Type::f32};
  const Tensor y = {{1, 9, 3, 9}, Type::f32};
  const auto expect_others = [&](const auto& describe) {
    for (std::size_t implementation = 0;; ++implementation) {
      try {
        const std::string name = describe({engine(), attributes, implementation}).impl_info_str();
        EXPECT_EQ(name.find("sse41"), name.npos) << name;
      } catch (const dnnl::error&) {
        EXPECT_GT(implementation, 0U);
        return;
      }
    }
  };
  expect_others([&](const PrimitiveSettings& settings) {
    return describe_convolution(settings, {x.any(), weights.any(), y.any(), nullptr},
                                {{2, 1}, {0, 0}, {0, 0}, {0, 0}});
  });
  expect_others([&](const PrimitiveSettings& settings) {
    return describe_pooling(settings, dnnl::algorithm::pooling_max, row_major(x.dims), y.any(),
                            {2, 1}, {{2, 1}, {0, 0}, {0, 0}, {0, 0}});
  });
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
}  // namespace ephost_dnnl::primitives_test
