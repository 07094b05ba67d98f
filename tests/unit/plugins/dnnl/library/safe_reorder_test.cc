#include "plugins/onednn/safe_reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/dnnl/library/primitives.h"
#include "plugins/dnnl/library/quantization.h"
#include "tests/unit/plugins/dnnl/library/weights_layouts.h"

namespace ephost_dnnl::safe_reorder_test {
namespace {

using ephost_onednn::ElementMoves;
using ephost_onednn::SafeReorder;
using Tag = dnnl::memory::format_tag;
constexpr auto kSums = dnnl::memory::data_type::s32;
using namespace weights_layouts;  // NOLINT(google-build-using-namespace)

// Whatever the library does, the elements are where it reads them.
TEST(SafeReorderTest, IsRightWhereTheLibraryIsNotTrusted) {
  uint64_t count = 0;
  for (const Descriptor& layout : padded_layouts(ElementType::kF32)) {
    for (const Descriptor& plain : plain_layouts(dims_of(layout), ElementType::kF32)) {
      const auto reorder = SafeReorder::plan(plain, layout, false);
      ASSERT_EQ(reorder.has_value(), has_padding(layout));
      if (!reorder) continue;
      ++count;
      EXPECT_FALSE(reorder->needs_library());
      std::vector<float> given(plain.get_size() / sizeof(float));
      std::iota(given.begin(), given.end(), 1.0F);
      std::vector<unsigned char> made(layout.get_size(), 0xA5);
      reorder->run(given.data(), made.data());
      const std::vector<unsigned char> read = read_by_library(made, layout, plain);
      ASSERT_EQ(std::memcmp(read.data(), given.data(), read.size()), 0);
      // The padding is zero.
      const auto zeros = std::count(made.begin(), made.end(), 0);
      EXPECT_GE(static_cast<uint64_t>(zeros), made.size() - read.size());
    }
  }
  EXPECT_GT(count, 1000U);
}

TEST(SafeReorderTest, CorrectsIntegersThatTheLibraryHasMisplaced) {
  const Descriptor layout(Dims{5, 3, 3, 2}, dnnl::memory::data_type::s8, Tag::Acdb16a);
  const Descriptor plain = row_major({5, 3, 3, 2}, ElementType::kS8);
  const auto reorder = SafeReorder::plan(plain, layout, false);
  ASSERT_TRUE(reorder && reorder->needs_library());
  std::vector<int8_t> given(90);
  std::iota(given.begin(), given.end(), 1);
  std::vector<unsigned char> right(layout.get_size());
  ElementMoves::plan(plain, layout)->run(given.data(), right.data());
  std::vector<unsigned char> made = right;
  std::swap(made[0], made[1]);
  reorder->run(given.data(), made.data());
  EXPECT_EQ(made, right);
  // Halves are refused.
  for (unsigned char& byte : made) {
    byte = static_cast<unsigned char>(std::nearbyint(static_cast<float>(byte) / 2));
  }
  EXPECT_THROW(reorder->run(given.data(), made.data()), dnnl::error);
}

TEST(SafeReorderTest, LeavesToTheLibraryWhatItIsTrustedWith) {
  const Descriptor blocked(Dims{1, 20, 3, 3}, dnnl::memory::data_type::f32, Tag::nChw16c);
  const Descriptor plain = row_major({1, 20, 3, 3});
  EXPECT_TRUE(SafeReorder::plan(plain, blocked, false));
  EXPECT_FALSE(SafeReorder::plan(plain, blocked, true));
  EXPECT_FALSE(SafeReorder::plan(blocked, plain, false));
}

// A convolution of bytes.
struct ByteConvolution {
  int64_t groups, outputs, inputs, kernel;  // outputs and inputs of a group
  bool has_signed_source;
  int32_t zero_point;

  static constexpr int64_t kExtent = 4;

  [[nodiscard]] ElementType source_type() const {
    return has_signed_source ? ElementType::kS8 : ElementType::kU8;
  }
  [[nodiscard]] Dims source_dims() const { return {1, groups * inputs, kExtent, kExtent}; }
  [[nodiscard]] Dims weights_dims() const {
    Dims dims = {outputs, inputs, kernel, kernel};
    if (groups > 1) dims.insert(dims.begin(), groups);
    return dims;
  }
  [[nodiscard]] Dims output_dims() const { return {1, groups * outputs, kExtent, kExtent}; }
};

// As its definition says.
std::vector<int32_t> computed_plainly(const ByteConvolution& shape,
                                      const std::vector<unsigned char>& source,
                                      const std::vector<unsigned char>& weights) {
  constexpr int64_t kExtent = ByteConvolution::kExtent;
  const int64_t pad = shape.kernel / 2;
  std::vector<int32_t> result;
  for (int64_t m = 0; m < shape.groups * shape.outputs; ++m) {
    for (int64_t position = 0; position < kExtent * kExtent; ++position) {
      int32_t sum = 0;
      for (int64_t c = 0; c < shape.inputs; ++c) {
        for (int64_t tap = 0; tap < shape.kernel * shape.kernel; ++tap) {
          const int64_t y = position / kExtent + tap / shape.kernel - pad;
          const int64_t x = position % kExtent + tap % shape.kernel - pad;
          if (y < 0 || x < 0 || y >= kExtent || x >= kExtent) continue;
          const int64_t channel = m / shape.outputs * shape.inputs + c;
          const unsigned char byte =
              source[static_cast<std::size_t>((channel * kExtent + y) * kExtent + x)];
          const int32_t value = shape.has_signed_source ? static_cast<signed char>(byte) : byte;
          const auto weight = static_cast<signed char>(weights[static_cast<std::size_t>(
              (m * shape.inputs + c) * shape.kernel * shape.kernel + tap)]);
          sum += (value - shape.zero_point) * weight;
        }
      }
      result.push_back(sum);
    }
  }
  return result;
}

void reorder(const Descriptor& from_layout, void* from, const Descriptor& to_layout, void* to) {
  dnnl::memory source(from_layout, engine(), from), target(to_layout, engine(), to);
  dnnl::stream stream(engine());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
}

// The library's sums, with weights that a SafeReorder has brought into its layout. Throws
// dnnl::error where that refuses.
std::vector<int32_t> computed_by_library(const ByteConvolution& shape,
                                         std::vector<unsigned char> source,
                                         std::vector<unsigned char> weights) {
  dnnl::primitive_attr attributes;
  QuantizationAttributes quantization(attributes);
  quantization.set_zero_point(DNNL_ARG_SRC, shape.zero_point);
  const int64_t pad = shape.kernel / 2;
  const dnnl::primitive_desc_base descriptor =
      describe_convolution({engine(), attributes},
                           {any_layout(shape.source_dims(), shape.source_type()),
                            any_layout(shape.weights_dims(), ElementType::kS8),
                            Descriptor(shape.output_dims(), kSums, Tag::any)},
                           {{1, 1}, {0, 0}, {pad, pad}, {pad, pad}});
  const auto layout = [&](int argument) {
    return descriptor.query_md(dnnl::query::exec_arg_md, argument);
  };
  dnnl::memory source_memory(layout(DNNL_ARG_SRC), engine());
  dnnl::memory weights_memory(layout(DNNL_ARG_WEIGHTS), engine());
  dnnl::memory output_memory(layout(DNNL_ARG_DST), engine());
  std::memset(source_memory.get_data_handle(), 0, layout(DNNL_ARG_SRC).get_size());
  std::memset(weights_memory.get_data_handle(), 0xA5, layout(DNNL_ARG_WEIGHTS).get_size());
  reorder(row_major(shape.source_dims(), shape.source_type()), source.data(), layout(DNNL_ARG_SRC),
          source_memory.get_data_handle());
  const Descriptor plain = row_major(shape.weights_dims(), ElementType::kS8);
  reorder(plain, weights.data(), layout(DNNL_ARG_WEIGHTS), weights_memory.get_data_handle());
  if (const auto safe = SafeReorder::plan(plain, layout(DNNL_ARG_WEIGHTS))) {
    EXPECT_TRUE(safe->needs_library());
    safe->run(weights.data(), weights_memory.get_data_handle());
  }
  std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SRC, source_memory},
                                                     {DNNL_ARG_WEIGHTS, weights_memory},
                                                     {DNNL_ARG_DST, output_memory}};
  const std::vector<ParameterArgument> parameters = quantization.take();
  for (const ParameterArgument& parameter : parameters) {
    arguments[parameter.argument] =
        dnnl::memory(parameter.layout, engine(), const_cast<char*>(parameter.bytes.data()));
  }
  dnnl::stream stream(engine());
  dnnl::primitive(descriptor.get()).execute(stream, arguments);
  stream.wait();
  std::vector<int32_t> result(static_cast<std::size_t>(element_count(shape.output_dims())));
  reorder(layout(DNNL_ARG_DST), output_memory.get_data_handle(),
          Descriptor(shape.output_dims(), kSums, Tag::abcd), result.data());
  return result;
}

// What a SafeReorder lets pass gives right convolutions, and it refuses little.
TEST(SafeReorderTest, LeavesNoWrongSumsOrElementsToConvolutionsOfBytes) {
  std::mt19937 random(11);
  int count = 0, refused = 0;
  for (const int64_t groups : {1, 2, 3, 4, 8}) {
    for (const int64_t outputs : {1, 2, 5, 17}) {
      for (const int64_t inputs : {1, 3, 8, 16, 33}) {
        for (const int kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
          const ByteConvolution shape = {groups,          outputs,       inputs, (kind & 1) * 2 + 1,
                                         (kind & 2) != 0, (kind & 4) * 3};
          SCOPED_TRACE("groups " + std::to_string(groups) + ", outputs " + std::to_string(outputs) +
                       ", inputs " + std::to_string(inputs) + ", kind " + std::to_string(kind));
          const auto source =
              random_bytes(static_cast<std::size_t>(element_count(shape.source_dims())), random);
          auto weights =
              random_bytes(static_cast<std::size_t>(element_count(shape.weights_dims())), random);
          // Sums of two products fit into 16 bits, which some instruction sets need.
          for (unsigned char& weight : weights) {
            weight = static_cast<unsigned char>(static_cast<signed char>(weight) / 2);
          }
          ++count;
          try {
            ASSERT_EQ(computed_by_library(shape, source, weights),
                      computed_plainly(shape, source, weights));
          } catch (const dnnl::error& error) {
            ASSERT_EQ(error.status, dnnl_unimplemented);
            ++refused;
          }
        }
      }
    }
  }
  EXPECT_LT(refused, has_exact_integer_products() ? count / 10 : count);
}

}  // namespace
}  // namespace ephost_dnnl::safe_reorder_test
