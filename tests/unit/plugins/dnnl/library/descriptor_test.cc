#include "plugins/dnnl/library/descriptor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "plugins/dnnl/library/primitives.h"
#include "plugins/dnnl/library/quantization.h"

namespace ephost_dnnl::descriptor_test {
namespace {

using Tag = dnnl::memory::format_tag;

Descriptor tagged(const Dims& dims, Tag tag) {
  return Descriptor(dims, dnnl::memory::data_type::f32, tag);
}

// As the library chooses them for a convolution with a zero point.
Descriptor weights_of_integers() {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::primitive_attr attributes;
  QuantizationAttributes quantization(attributes);
  quantization.scale_sum({0.5F}, 1, 1);
  quantization.set_zero_point(DNNL_ARG_SRC, 3);
  const Descriptor data = any_layout({1, 16, 6, 6}, ElementType::kU8);
  const auto primitive = describe_convolution(
      {engine, attributes}, {data, any_layout({16, 16, 3, 3}, ElementType::kS8), data, nullptr},
      {{1, 1}, {0, 0}, {1, 1}, {1, 1}});
  return primitive.query_md(dnnl::query::weights_md, 0);
}

TEST(Descriptor, SeesTheSameLayoutBehindBlocksThatContinueEachOther) {
  EXPECT_TRUE(same_layout(tagged({2, 32, 1, 1}, Tag::nChw16c), row_major({2, 32, 1, 1})));
  EXPECT_TRUE(same_layout(tagged({2, 32, 1, 1}, Tag::nhwc), row_major({2, 32, 1, 1})));
  EXPECT_FALSE(same_layout(tagged({2, 32, 2, 1}, Tag::nChw16c), row_major({2, 32, 2, 1})));
  EXPECT_FALSE(same_layout(tagged({2, 20, 1, 1}, Tag::nChw16c), row_major({2, 20, 1, 1})));
  EXPECT_FALSE(same_layout(row_major({2, 3}), row_major({3, 2})));
}

TEST(Descriptor, ReshapesRowMajorLayoutsToAnyForm) {
  for (const Dims& dims : {Dims{24}, Dims{2, 12}, Dims{1, 24, 1}, Dims{4, 3, 2}, Dims{2, 3, 4}}) {
    const auto view = reshape_view(row_major({2, 3, 4}), dims);
    ASSERT_TRUE(view.has_value()) << to_text(dims);
    EXPECT_TRUE(same_layout(*view, row_major(dims))) << to_text(dims);
  }
}

TEST(Descriptor, ReshapesWithinContiguousRunsOfOtherLayouts) {
  // [N, C, H, W] with channels last: H and W are one run, which C is not part of.
  const Descriptor channels_last = tagged({2, 8, 3, 5}, Tag::nhwc);
  const auto merged = reshape_view(channels_last, {2, 8, 15});
  ASSERT_TRUE(merged.has_value());
  EXPECT_TRUE(same_layout(*merged, tagged({2, 8, 15}, Tag::nwc)));
  EXPECT_FALSE(reshape_view(channels_last, {2, 24, 5}).has_value());
  EXPECT_FALSE(reshape_view(channels_last, {2, 120}).has_value());
  EXPECT_TRUE(reshape_view(channels_last, {2, 2, 4, 3, 5}).has_value());
}

TEST(Descriptor, RefusesToReshapeProperBlocksAndOtherCounts) {
  EXPECT_FALSE(reshape_view(tagged({2, 32, 4, 4}, Tag::nChw16c), {2, 32, 16}).has_value());
  EXPECT_FALSE(reshape_view(row_major({2, 3}), {7}).has_value());
}

TEST(Descriptor, TransposesWithoutMovingElements) {
  const auto view = transpose_view(row_major({2, 3, 4}), {2, 0, 1});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(dims_of(*view), (Dims{4, 2, 3}));
  const auto back = transpose_view(*view, {1, 2, 0});
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(same_layout(*back, row_major({2, 3, 4})));
  EXPECT_FALSE(transpose_view(tagged({2, 32, 4, 4}, Tag::nChw16c), {0, 2, 3, 1}).has_value());
}

TEST(Descriptor, GivesTheLayoutThatTransposesToRowMajor) {
  const Descriptor before = row_major_after({2, 3, 5, 4}, {0, 2, 1, 3});
  const auto after = transpose_view(before, {0, 2, 1, 3});
  ASSERT_TRUE(after.has_value());
  EXPECT_TRUE(same_layout(*after, row_major({2, 5, 3, 4})));
}

// The library's products derive their leading dimension from these strides.
TEST(Descriptor, GivesExtentsOfOneStridesThatSpanWhatFollows) {
  const auto strides = [](const Descriptor& layout) {
    const LayoutFields fields = layout_fields(layout);
    return Dims(fields.strides, fields.strides + fields.ndims);
  };
  EXPECT_EQ(strides(row_major_after({1, 8}, {1, 0})), (Dims{8, 1}));
  EXPECT_EQ(strides(row_major_after({4, 1, 8}, {2, 0, 1})), (Dims{1, 32, 4}));
  EXPECT_EQ(strides(transpose_view(row_major({8, 1}), {1, 0}).value()), (Dims{8, 1}));
  EXPECT_EQ(strides(reshape_view(row_major({8, 3}), {8, 1, 3}).value()), (Dims{3, 3, 1}));
}

TEST(Descriptor, HasBytesThatIgnoreStridesWithoutEffect) {
  const auto strided = [](const Dims& strides) {
    return Descriptor({1, 1, 3}, dnnl::memory::data_type::f32, strides);
  };
  EXPECT_EQ(descriptor_bytes(strided({3, 3, 1})), descriptor_bytes(strided({1, 7, 1})));
  EXPECT_NE(descriptor_bytes(strided({3, 3, 1})), descriptor_bytes(strided({3, 3, 2})));
}

TEST(Descriptor, KnowsPadding) {
  EXPECT_TRUE(has_padding(tagged({2, 20, 3, 3}, Tag::nChw16c)));
  EXPECT_FALSE(has_padding(tagged({2, 32, 3, 3}, Tag::nChw16c)));
  EXPECT_FALSE(has_padding(row_major({2, 5})));
}

TEST(Descriptor, HasBytesThatTellLayoutsApart) {
  const std::string plain = descriptor_bytes(row_major({2, 32, 3, 3}));
  EXPECT_EQ(plain, descriptor_bytes(tagged({2, 32, 3, 3}, Tag::nchw)));
  EXPECT_NE(plain, descriptor_bytes(tagged({2, 32, 3, 3}, Tag::nhwc)));
  EXPECT_NE(plain, descriptor_bytes(tagged({2, 32, 3, 3}, Tag::nChw16c)));
  EXPECT_NE(descriptor_bytes(tagged({2, 32, 3, 3}, Tag::nChw8c)),
            descriptor_bytes(tagged({2, 32, 3, 3}, Tag::nChw16c)));
  EXPECT_NE(plain, descriptor_bytes(row_major({2, 33, 3, 3})));
}

TEST(Descriptor, TellsElementTypesApart) {
  for (const ElementType type : {ElementType::kF32, ElementType::kU8, ElementType::kS8}) {
    EXPECT_EQ(type_of(row_major({2, 3}, type)), type);
    EXPECT_EQ(type_of(reshape_view(row_major({2, 3}, type), {6}).value()), type);
    EXPECT_EQ(type_of(transpose_view(row_major({2, 3}, type), {1, 0}).value()), type);
  }
  EXPECT_FALSE(
      same_layout(row_major({2, 3}, ElementType::kU8), row_major({2, 3}, ElementType::kS8)));
  EXPECT_NE(descriptor_bytes(row_major({2, 3}, ElementType::kU8)),
            descriptor_bytes(row_major({2, 3}, ElementType::kS8)));
}

TEST(Descriptor, ChangesTheTypeButNotTheOrder) {
  const Descriptor last = channels_last({2, 5, 3, 4}, ElementType::kU8);
  EXPECT_TRUE(same_layout(with_type(last, ElementType::kF32), tagged({2, 5, 3, 4}, Tag::nhwc)));
  EXPECT_TRUE(same_layout(with_type(tagged({2, 20, 2, 1}, Tag::nChw16c), ElementType::kU8),
                          row_major({2, 20, 2, 1}, ElementType::kU8)));
}

#if DNNL_VERSION_MAJOR >= 3

// The library leaves padding and unused fields of its own form uninitialised.
TEST(Descriptor, HasTheSameBytesWhateverTheLibraryLeavesUninitialised) {
  for (const Descriptor& layout :
       {row_major({3, 5}, ElementType::kS8), channels_last({2, 5, 3, 4}, ElementType::kU8),
        weights_of_integers()}) {
    const std::vector<uint8_t> form = Descriptor(layout).get_blob();
    int ignored = 0;
    for (std::size_t at = 0; at < form.size(); ++at) {
      std::vector<uint8_t> changed = form;
      changed[at] ^= 0x5a;
      const Descriptor other(changed);
      if (other != layout) continue;
      ++ignored;
      EXPECT_EQ(descriptor_bytes(other), descriptor_bytes(layout)) << at;
    }
    EXPECT_GT(ignored, 0);
  }
}

#endif

// Weights of integers may have sums beside them, which no view may pass on.
TEST(Descriptor, HasNoViewOfLayoutsWithExtraData) {
  const Descriptor weights = weights_of_integers();
  if (weights.get_size() == 16 * 16 * 9) GTEST_SKIP() << "the library stores no sums";
  EXPECT_FALSE(reshape_view(weights, {16 * 16 * 9}));
  EXPECT_FALSE(same_layout(weights, row_major({16, 16, 3, 3}, ElementType::kS8)));
}

}  // namespace
}  // namespace ephost_dnnl::descriptor_test
