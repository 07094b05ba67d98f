#include "host/base/checked_math.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace ephost::checked_math_test {
namespace {

constexpr uint64_t kMaxU64 = std::numeric_limits<uint64_t>::max();
constexpr int64_t kMaxI64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinI64 = std::numeric_limits<int64_t>::min();

TEST(CheckedMath, AddsUpToTheLimit) {
  EXPECT_EQ(checked_add(kMaxU64 - 1, uint64_t{1}), kMaxU64);
  EXPECT_EQ(checked_add(kMaxU64, uint64_t{1}), std::nullopt);
  EXPECT_EQ(checked_add(kMaxI64, int64_t{1}), std::nullopt);
  EXPECT_EQ(checked_add(kMinI64, int64_t{-1}), std::nullopt);
}

TEST(CheckedMath, SubtractsDownToTheLimit) {
  EXPECT_EQ(checked_sub(uint64_t{3}, uint64_t{3}), 0U);
  EXPECT_EQ(checked_sub(uint64_t{3}, uint64_t{4}), std::nullopt);
}

TEST(CheckedMath, MultipliesUpToTheLimit) {
  EXPECT_EQ(checked_mul(uint64_t{1} << 32, uint64_t{1} << 31), uint64_t{1} << 63);
  EXPECT_EQ(checked_mul(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_mul(kMinI64, int64_t{-1}), std::nullopt);
}

TEST(CheckedMath, CastsOnlyWhatFits) {
  EXPECT_EQ(checked_cast<uint8_t>(255), uint8_t{255});
  EXPECT_EQ(checked_cast<uint8_t>(256), std::nullopt);
  EXPECT_EQ(checked_cast<size_t>(int64_t{-1}), std::nullopt);
  EXPECT_EQ(checked_cast<int64_t>(kMaxU64), std::nullopt);
}

TEST(CheckedMath, AlignsUpToTheNextMultiple) {
  EXPECT_EQ(checked_align_up(uint64_t{0}, uint64_t{64}), 0U);
  EXPECT_EQ(checked_align_up(uint64_t{1}, uint64_t{64}), 64U);
  EXPECT_EQ(checked_align_up(uint64_t{64}, uint64_t{64}), 64U);
  EXPECT_EQ(checked_align_up(kMaxU64, uint64_t{2}), std::nullopt);
}

TEST(CheckedMath, AlignsOnlyToPowersOfTwo) {
  EXPECT_EQ(checked_align_up(uint64_t{1}, uint64_t{0}), std::nullopt);
  EXPECT_EQ(checked_align_up(uint64_t{1}, uint64_t{48}), std::nullopt);
}

TEST(CheckedMath, ProductOfNoDimensionIsOne) { EXPECT_EQ(checked_product({}), 1); }

TEST(CheckedMath, ProductRefusesOverflow) {
  const std::array<int64_t, 3> dims{int64_t{1} << 31, int64_t{1} << 31, 2};
  EXPECT_EQ(checked_product(dims), std::nullopt);
  EXPECT_EQ(checked_product(std::span(dims).first(2)), int64_t{1} << 62);
}

TEST(CheckedMath, ProductRefusesANegativeDimension) {
  EXPECT_EQ(checked_product(std::vector<int64_t>{-2, -3}), std::nullopt);
  EXPECT_EQ(checked_product(std::vector<int64_t>{0, -3}), std::nullopt);
}

TEST(CheckedMath, ProductWithAZeroIsZeroWhereverItStands) {
  EXPECT_EQ(checked_product(std::vector<int64_t>{kMaxI64, kMaxI64, 0}), 0);
}

TEST(CheckedMath, RangeFitsWithoutOverflow) {
  EXPECT_TRUE(range_fits(0, 0, 0));
  EXPECT_TRUE(range_fits(8, 2, 10));
  EXPECT_TRUE(range_fits(10, 0, 10));
  EXPECT_FALSE(range_fits(8, 3, 10));
  EXPECT_FALSE(range_fits(11, 0, 10));
  EXPECT_FALSE(range_fits(8, kMaxU64, 10));
}

}  // namespace
}  // namespace ephost::checked_math_test
