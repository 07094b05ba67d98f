#include "plugins/onednn/element_moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/plugins/dnnl/library/weights_layouts.h"

namespace ephost_dnnl::element_moves_test {
namespace {

using ephost_onednn::ElementMoves;
using namespace weights_layouts;  // NOLINT(google-build-using-namespace)

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

}  // namespace
}  // namespace ephost_dnnl::element_moves_test
