#include "host/cli/values/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support/status_matchers.h"

namespace ephost::cli::elements_test {
namespace {

using test::IsOk;

// A tensor of one dimension from its bytes.
Value tensor(ElementType type, int64_t count, std::vector<uint8_t> bytes) {
  auto value = Value::allocate(type, {count});
  EXPECT_THAT(value, IsOk());
  EXPECT_EQ(value->bytes().size(), bytes.size());
  std::memcpy(value->mutable_bytes().data(), bytes.data(), bytes.size());
  return *value;
}

TEST(Elements, DecodesFloat16) {
  // 1, -2, the smallest subnormal, infinity, NaN
  const Value value = tensor(ElementType::kFloat16, 5,
                             {0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0x00, 0x7c, 0x01, 0x7c});
  const Elements elements(value);
  EXPECT_EQ(elements.number(0), 1);
  EXPECT_EQ(elements.number(1), -2);
  EXPECT_EQ(elements.number(2), 0x1p-24);
  EXPECT_EQ(elements.number(3), HUGE_VAL);
  EXPECT_TRUE(std::isnan(elements.number(4)));
}

TEST(Elements, DecodesBfloat16) {
  const Value value = tensor(ElementType::kBfloat16, 2, {0x80, 0x3f, 0x20, 0xc0});
  const Elements elements(value);
  EXPECT_EQ(elements.number(0), 1);
  EXPECT_EQ(elements.number(1), -2.5);
}

TEST(Elements, DecodesFloat8) {
  const auto number = [](ElementType type, uint8_t bits) {
    const Value value = tensor(type, 1, {bits});
    return Elements(value).number(0);
  };
  EXPECT_EQ(number(ElementType::kFloat8E4M3FN, 0x38), 1);
  EXPECT_EQ(number(ElementType::kFloat8E4M3FN, 0x7e), 448);
  EXPECT_TRUE(std::isnan(number(ElementType::kFloat8E4M3FN, 0xff)));
  EXPECT_EQ(number(ElementType::kFloat8E4M3FNUZ, 0x7f), 240);
  EXPECT_TRUE(std::isnan(number(ElementType::kFloat8E4M3FNUZ, 0x80)));
  EXPECT_EQ(number(ElementType::kFloat8E5M2, 0x7b), 57344);
  EXPECT_EQ(number(ElementType::kFloat8E5M2, 0xfc), -HUGE_VAL);
  EXPECT_EQ(number(ElementType::kFloat8E5M2FNUZ, 0x7f), 57344);
}

TEST(Elements, DecodesPackedNibbles) {
  const Value integers = tensor(ElementType::kInt4, 3, {0x8f, 0x07});
  EXPECT_EQ(Elements(integers).number(0), -1);
  EXPECT_EQ(Elements(integers).number(1), -8);
  EXPECT_EQ(Elements(integers).number(2), 7);
  const Value floats = tensor(ElementType::kFloat4E2M1, 4, {0x17, 0xf2});
  EXPECT_EQ(Elements(floats).number(0), 6);
  EXPECT_EQ(Elements(floats).number(1), 0.5);
  EXPECT_EQ(Elements(floats).number(2), 1);
  EXPECT_EQ(Elements(floats).number(3), -6);
}

TEST(Elements, DecodesPackedPairsOfBits) {
  const Value natural = tensor(ElementType::kUint2, 5, {0xe4, 0x02});
  EXPECT_EQ(first_elements(natural, 8), "0, 1, 2, 3, 2");
  const Value integers = tensor(ElementType::kInt2, 5, {0xe4, 0x02});
  EXPECT_EQ(first_elements(integers, 8), "0, 1, -2, -1, -2");
}

TEST(Elements, DecodesPowersOfTwo) {
  std::vector<uint8_t> codes(256);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint8_t>(i);
  const Value value = tensor(ElementType::kFloat8E8M0, 256, codes);
  const Elements elements(value);
  double power = 0x1p-127;
  for (uint64_t i = 0; i < 255; ++i, power *= 2) EXPECT_EQ(elements.number(i), power);
  EXPECT_TRUE(std::isnan(elements.number(255)));
  EXPECT_TRUE(is_inexact(ElementType::kFloat8E8M0));
  EXPECT_FALSE(is_inexact(ElementType::kInt2));
}

TEST(Elements, WritesElementsAsAPersonWould) {
  const Value bools = tensor(ElementType::kBool, 2, {0, 1});
  EXPECT_EQ(first_elements(bools, 8), "false, true");
  const Value large = tensor(ElementType::kUint64, 1, std::vector<uint8_t>(8, 0xff));
  EXPECT_EQ(first_elements(large, 8), "18446744073709551615");
  const auto strings = Value::of_strings({2}, {"a\nb", ""});
  ASSERT_THAT(strings, IsOk());
  EXPECT_EQ(first_elements(*strings, 1), "\"a\\nb\", ...");
}

TEST(Elements, SummarisesWithoutNan) {
  const std::vector<double> numbers = {2, std::nan(""), -4, 8};
  const auto value = Value::of<double>({4}, std::span<const double>(numbers));
  ASSERT_THAT(value, IsOk());
  const Summary summary = summarize(*value);
  EXPECT_EQ(summary.min, -4);
  EXPECT_EQ(summary.max, 8);
  EXPECT_EQ(summary.mean, 2);
  EXPECT_EQ(summary.numbers, 3);
  EXPECT_EQ(summary.nans, 1);
}

TEST(Elements, NamesPositionsAndShapes) {
  EXPECT_EQ(shape_text(std::vector<int64_t>{}), "[]");
  EXPECT_EQ(shape_text(std::vector<int64_t>{1, -1}), "[1,?]");
  EXPECT_EQ(position_text(std::vector<int64_t>{2, 3, 4}, 23), "[1,2,3]");
  EXPECT_EQ(position_text(std::vector<int64_t>{}, 0), "[]");
}

}  // namespace
}  // namespace ephost::cli::elements_test
