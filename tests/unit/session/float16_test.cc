#include <ephost/float16.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "host/runtime/values/value.h"
#include "tests/support/status_matchers.h"

namespace ephost::float16_test {
namespace {

using test::IsOk;

struct Format {
  int exponent_bits;
  int mantissa_bits;
};
constexpr Format kBinary16 = {5, 10};
constexpr Format kBrain16 = {8, 7};

// What the bits mean, by the definition of the format.
double meaning(uint16_t bits, Format format) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> format.mantissa_bits;
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  }
  const int significand = exponent == 0 ? mantissa : mantissa + (1 << format.mantissa_bits);
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias - format.mantissa_bits);
}

// The bits of the nearest number, of two equally near ones the one with an even mantissa: `low` and
// the next larger magnitude are those around `number`, which is not negative.
uint16_t nearest(double number, uint16_t low, Format format) {
  const double below = meaning(low, format);
  double above = meaning(static_cast<uint16_t>(low + 1), format);
  // As if the exponent had no end.
  if (std::isinf(above)) above = below + (below - meaning(static_cast<uint16_t>(low - 1), format));
  const double middle = (below + above) / 2;
  const bool goes_up = number > middle || (number == middle && (low & 1) != 0);
  return static_cast<uint16_t>(goes_up ? low + 1 : low);
}

template <class Number>
void expect_exact_conversion_to_float(Format format) {
  for (uint32_t i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const Number number = Number::from_bits(bits);
    const double expected = meaning(bits, format);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(number.to_float())) << i;
      ASSERT_TRUE(std::isnan(Number(number.to_float()).to_float())) << i;
      ASSERT_EQ(Number(number.to_float()).is_negative(), number.is_negative()) << i;
      continue;
    }
    ASSERT_EQ(number.to_float(), expected) << i;
    ASSERT_EQ(std::signbit(number.to_float()), number.is_negative()) << i;
    ASSERT_EQ(Number(number.to_float()).to_bits(), bits) << i;
  }
}

TEST(Float16, ConvertsToFloatExactlyAndBack) {
  expect_exact_conversion_to_float<Float16>(kBinary16);
}
TEST(BFloat16, ConvertsToFloatExactlyAndBack) {
  expect_exact_conversion_to_float<BFloat16>(kBrain16);
}

// Around each number, and around the middle between each two.
template <class Number>
void expect_rounding_to_nearest_even(Format format) {
  const auto infinity =
      static_cast<uint16_t>(((1 << format.exponent_bits) - 1) << format.mantissa_bits);
  for (uint16_t low = 0; low < infinity; ++low) {
    const double below = meaning(low, format);
    double above = meaning(static_cast<uint16_t>(low + 1), format);
    if (std::isinf(above))
      above = below + (below - meaning(static_cast<uint16_t>(low - 1), format));
    const auto middle = static_cast<float>((below + above) / 2);
    const float inside[] = {
        static_cast<float>(below),         std::nextafter(static_cast<float>(below), HUGE_VALF),
        std::nextafter(middle, 0.0F),      middle,
        std::nextafter(middle, HUGE_VALF), std::nextafter(static_cast<float>(above), 0.0F)};
    for (const float number : inside) {
      const uint16_t expected = nearest(number, low, format);
      ASSERT_EQ(Number(number).to_bits(), expected) << number << " above " << low;
      ASSERT_EQ(Number(-number).to_bits(), expected | 0x8000) << number << " above " << low;
    }
  }
  EXPECT_TRUE(Number(HUGE_VALF).is_positive_infinity());
  EXPECT_TRUE(Number(-HUGE_VALF).is_negative_infinity());
  EXPECT_TRUE(Number(std::numeric_limits<float>::max()).is_positive_infinity());
}

TEST(Float16, RoundsToNearestEven) { expect_rounding_to_nearest_even<Float16>(kBinary16); }
TEST(BFloat16, RoundsToNearestEven) { expect_rounding_to_nearest_even<BFloat16>(kBrain16); }

TEST(Float16, RoundsWhatIsTooLargeToInfinity) {
  EXPECT_EQ(Float16(65504.0F).to_float(), 65504.0F);
  EXPECT_EQ(Float16(std::nextafter(65520.0F, 0.0F)).to_float(), 65504.0F);
  EXPECT_TRUE(Float16(65520.0F).is_positive_infinity());
  EXPECT_TRUE(Float16(1e30F).is_positive_infinity());
}

TEST(Float16, KeepsTheSignOfNanWhateverItsBits) {
  for (const uint32_t bits : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU}) {
    const auto nan = std::bit_cast<float>(bits);
    EXPECT_TRUE(Float16(nan).is_nan());
    EXPECT_TRUE(BFloat16(nan).is_nan());
    EXPECT_EQ(Float16(nan).is_negative(), bits >> 31 == 1);
    EXPECT_EQ(BFloat16(nan).is_negative(), bits >> 31 == 1);
  }
}

template <class Number>
class ShortFloatTest : public ::testing::Test {};
using Numbers = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(ShortFloatTest, Numbers);

TYPED_TEST(ShortFloatTest, ComparesNumbersAndNotBits) {
  const TypeParam nan(std::numeric_limits<float>::quiet_NaN());
  const TypeParam one(1);
  const TypeParam two(2);
  EXPECT_TRUE(TypeParam(0.0F) == TypeParam(-0.0F));
  EXPECT_FALSE(TypeParam(-0.0F) < TypeParam(0.0F));
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(nan != nan);
  EXPECT_FALSE(nan < one);
  EXPECT_FALSE(one < nan);
  EXPECT_TRUE(one == one);
  EXPECT_TRUE(one != two);
  EXPECT_TRUE(one < two);
  EXPECT_FALSE(two < one);
  EXPECT_TRUE(two.negate() < one.negate());
  EXPECT_TRUE(two.negate() < one);
}

TYPED_TEST(ShortFloatTest, ClassifiesEachNumberAsItsFloat) {
  for (uint32_t i = 0; i <= 0xffff; ++i) {
    const auto number = TypeParam::from_bits(static_cast<uint16_t>(i));
    const auto value = static_cast<float>(number);
    const auto magnitude = static_cast<uint16_t>(i & 0x7fff);
    ASSERT_EQ(number.is_nan(), std::isnan(value)) << i;
    ASSERT_EQ(number.is_infinity(), std::isinf(value)) << i;
    ASSERT_EQ(number.is_positive_infinity(), value == HUGE_VALF) << i;
    ASSERT_EQ(number.is_negative_infinity(), value == -HUGE_VALF) << i;
    ASSERT_EQ(number.is_finite(), std::isfinite(value)) << i;
    ASSERT_EQ(number.is_zero(), value == 0) << i;
    ASSERT_EQ(number.is_nan_or_zero(), std::isnan(value) || value == 0) << i;
    ASSERT_EQ(number.is_negative(), std::signbit(value)) << i;
    ASSERT_EQ(number.abs().to_bits(), magnitude) << i;
    ASSERT_EQ(number.negate().to_bits(), i ^ 0x8000) << i;
    ASSERT_EQ(number.is_normal() || number.is_subnormal() || number.is_zero(), number.is_finite());
    ASSERT_FALSE(number.is_normal() && number.is_subnormal());
  }
  EXPECT_TRUE(TypeParam::from_bits(1).is_subnormal());
  EXPECT_TRUE(TypeParam(1).is_normal());
}

TYPED_TEST(ShortFloatTest, IsAnElementTypeOfValues) {
  const std::vector<TypeParam> numbers = {TypeParam(1.5F), TypeParam(-2)};
  const auto value = runtime::Value::of<TypeParam>({2}, numbers);
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(value->element_type(), element_type_of<TypeParam>());
  EXPECT_EQ(value->bytes().size(), 4U);
  ASSERT_EQ(value->template elements<TypeParam>().size(), 2U);
  EXPECT_EQ(value->template elements<TypeParam>()[1].to_float(), -2);
  EXPECT_TRUE(value->template elements<uint16_t>().empty());
}

TEST(ElementTypeOf, TellsTheTwoShortFloatsApart) {
  static_assert(element_type_of<Float16>() == ElementType::kFloat16);
  static_assert(element_type_of<BFloat16>() == ElementType::kBfloat16);
  static_assert(Float16(1.0F).to_bits() == 0x3c00 && BFloat16(1.0F).to_bits() == 0x3f80);
  const std::vector<Float16> numbers(3);
  const auto value = runtime::Value::of<Float16>({3}, numbers);
  ASSERT_THAT(value, IsOk());
  EXPECT_TRUE(value->elements<BFloat16>().empty());
}

}  // namespace
}  // namespace ephost::float16_test
