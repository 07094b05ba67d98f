#include "plugins/onednn/element_moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "plugins/dnnl/library/descriptor.h"

namespace ephost_dnnl::element_moves_test {
namespace {

using ephost_onednn::ElementMoves;
using ephost_onednn::SafeReorder;
using Tag = dnnl::memory::format_tag;

const dnnl::engine& engine() {
  static const dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}

// Layouts of weights, with the tensors' extents; all sorts of tails.
std::vector<Descriptor> padded_layouts(ElementType type) {
  const auto data_type =
      type == ElementType::kF32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::s8;
  std::vector<Descriptor> layouts;
  for (const int64_t outputs : {1, 5, 16, 33, 100}) {
    for (const int64_t inputs : {1, 3, 17, 64}) {
      for (const Tag tag : {Tag::BA16a64b, Tag::AB16b64a, Tag::BA16a16b}) {
        layouts.emplace_back(Dims{inputs, outputs}, data_type, tag);
      }
      for (const Tag tag : {Tag::Acdb16a, Tag::ABcd16b16a, Tag::Acdb32a, Tag::ABcd8b8a}) {
        layouts.emplace_back(Dims{outputs, inputs, 3, 2}, data_type, tag);
      }
    }
  }
  return layouts;
}

// Row-major, and all other orders of the dimensions.
std::vector<Descriptor> plain_layouts(const Dims& dims, ElementType type) {
  Dims permutation(dims.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::vector<Descriptor> layouts;
  do {
    layouts.push_back(row_major_after(dims, permutation, type));
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  return layouts;
}

std::vector<unsigned char> random_bytes(std::size_t size, std::mt19937& random) {
  std::vector<unsigned char> bytes(size);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

// The library reads layouts with padding rightly, in all versions.
std::vector<unsigned char> read_by_library(const std::vector<unsigned char>& bytes,
                                           const Descriptor& layout, const Descriptor& plain) {
  std::vector<unsigned char> source = bytes;
  std::vector<unsigned char> read(plain.get_size());
  dnnl::memory from(layout, engine(), source.data());
  dnnl::memory to(plain, engine(), read.data());
  dnnl::stream stream(engine());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return read;
}

class ElementMovesTest : public ::testing::TestWithParam<ElementType> {};

TEST_P(ElementMovesTest, PutElementsWhereTheLibraryReadsThem) {
  std::mt19937 random(7);
  for (const Descriptor& layout : padded_layouts(GetParam())) {
    for (const Descriptor& plain : plain_layouts(dims_of(layout), GetParam())) {
      const auto moves = ElementMoves::plan(plain, layout);
      ASSERT_TRUE(moves);
      std::vector<unsigned char> given(plain.get_size());
      if (GetParam() == ElementType::kF32) {
        for (std::size_t i = 0; i < given.size() / sizeof(float); ++i) {
          const auto number = static_cast<float>(i + 1);
          std::memcpy(&given[i * sizeof(number)], &number, sizeof(number));
        }
      } else {
        given = random_bytes(given.size(), random);
      }
      std::vector<unsigned char> made(layout.get_size());
      moves->run(given.data(), made.data());
      ASSERT_EQ(read_by_library(made, layout, plain), given);
      EXPECT_EQ(moves->compare(given.data(), made.data()).from_whole, 0);
      // Back again.
      std::vector<unsigned char> back(given.size());
      ElementMoves::plan(layout, plain)->run(made.data(), back.data());
      ASSERT_EQ(back, given);
    }
  }
}

TEST_P(ElementMovesTest, TellWhichElementsAreWrong) {
  std::mt19937 random(9);
  const Descriptor layout = padded_layouts(GetParam()).back();
  const Descriptor plain = row_major(dims_of(layout), GetParam());
  const auto moves = ElementMoves::plan(plain, layout);
  std::vector<unsigned char> given = random_bytes(plain.get_size(), random);
  std::vector<unsigned char> made(layout.get_size());
  moves->run(given.data(), made.data());
  const std::size_t size = GetParam() == ElementType::kF32 ? sizeof(float) : 1;
  for (const std::size_t element : {std::size_t{0}, given.size() / size / 2}) {
    given[element * size] ^= 1U;
  }
  EXPECT_EQ(moves->compare(given.data(), made.data()).from_whole, 2);
}

INSTANTIATE_TEST_SUITE_P(Types, ElementMovesTest,
                         ::testing::Values(ElementType::kF32, ElementType::kS8));

TEST(ElementMoves, KnowHalvesOfWeights) {
  const Descriptor layout = row_major({2, 2}, ElementType::kS8);
  const auto moves = ElementMoves::plan(layout, layout);
  const std::vector<int8_t> given = {100, -7, 3, 0};
  const std::vector<int8_t> halves = {50, -4, 2, 0};
  const ElementMoves::Difference found = moves->compare(given.data(), halves.data());
  EXPECT_EQ(found.from_whole, 3);
  EXPECT_EQ(found.from_half, 0);
}

TEST(ElementMoves, NeedLayoutsOfOneTypeAndShape) {
  EXPECT_FALSE(ElementMoves::plan(row_major({2, 3}), row_major({3, 2})));
  EXPECT_FALSE(ElementMoves::plan(row_major({2, 3}), row_major({2, 3}, ElementType::kS8)));
}

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
  // Halves stay, and halves in wrong places are refused.
  for (unsigned char& byte : made) {
    byte = static_cast<unsigned char>(std::nearbyint(static_cast<float>(byte) / 2));
  }
  const std::vector<unsigned char> halves = made;
  reorder->run(given.data(), made.data());
  EXPECT_EQ(made, halves);
  std::swap(made[0], made[4]);
  EXPECT_THROW(reorder->run(given.data(), made.data()), dnnl::error);
}

TEST(SafeReorderTest, LeavesToTheLibraryWhatItIsTrustedWith) {
  const Descriptor blocked(Dims{1, 20, 3, 3}, dnnl::memory::data_type::f32, Tag::nChw16c);
  const Descriptor plain = row_major({1, 20, 3, 3});
  EXPECT_TRUE(SafeReorder::plan(plain, blocked, false));
  EXPECT_FALSE(SafeReorder::plan(plain, blocked, true));
  EXPECT_FALSE(SafeReorder::plan(blocked, plain, false));
}

}  // namespace
}  // namespace ephost_dnnl::element_moves_test
