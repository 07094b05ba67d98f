#include "host/cli/backend_test/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/status_matchers.h"

namespace ephost::cli::compare_test {
namespace {

using test::IsOk;
using ::testing::Eq;
using ::testing::Optional;

template <class T>
Value tensor(std::vector<int64_t> shape, std::vector<T> elements) {
  auto value = Value::of<T>(std::move(shape), std::span<const T>(elements));
  EXPECT_THAT(value, IsOk());
  return *value;
}

TEST(Compare, AcceptsNumbersWithinTheTolerance) {
  const Value expected = tensor<float>({2}, {1000, 0});
  EXPECT_EQ(find_difference(tensor<float>({2}, {1000.9F, 0.9e-5F}), expected, {}), std::nullopt);
  EXPECT_THAT(find_difference(tensor<float>({2}, {1001.1F, 0}), expected, {}),
              Optional(Eq("1 of 2 numbers differ, the first at [0]: 1001.1, expected 1000")));
}

TEST(Compare, TakesTheRelativeToleranceOfTheExpectedNumber) {
  const Tolerance tolerance{.relative = 0.5, .absolute = 0};
  EXPECT_EQ(find_difference(tensor<double>({1}, {1}), tensor<double>({1}, {2}), tolerance),
            std::nullopt);
  EXPECT_NE(find_difference(tensor<double>({1}, {2}), tensor<double>({1}, {1}), tolerance),
            std::nullopt);
}

TEST(Compare, HoldsNanEqualToNanOnly) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Value expected = tensor<float>({2}, {nan, 1});
  EXPECT_EQ(find_difference(tensor<float>({2}, {nan, 1}), expected, {}), std::nullopt);
  EXPECT_NE(find_difference(tensor<float>({2}, {0, 1}), expected, {}), std::nullopt);
  EXPECT_NE(find_difference(tensor<float>({2}, {nan, nan}), expected, {}), std::nullopt);
}

TEST(Compare, HoldsAnInfinityEqualToItselfOnly) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Value expected = tensor<float>({1}, {infinity});
  EXPECT_EQ(find_difference(expected, expected, {}), std::nullopt);
  EXPECT_NE(find_difference(tensor<float>({1}, {-infinity}), expected, {}), std::nullopt);
  EXPECT_NE(find_difference(tensor<float>({1}, {1e38F}), expected, {}), std::nullopt);
}

TEST(Compare, HoldsIntegersToTheLastDigit) {
  const int64_t large = int64_t{1} << 60;
  EXPECT_THAT(find_difference(tensor<int64_t>({1, 2}, {large, large + 1}),
                              tensor<int64_t>({1, 2}, {large, large}), {.relative = 1}),
              Optional(Eq("1 of 2 numbers differ, the first at [0,1]: 1152921504606846977, "
                          "expected 1152921504606846976")));
}

TEST(Compare, ComparesStrings) {
  const auto a = Value::of_strings({2}, {"x", "y"});
  const auto b = Value::of_strings({2}, {"x", "z"});
  ASSERT_THAT(a, IsOk());
  ASSERT_THAT(b, IsOk());
  EXPECT_EQ(find_difference(*a, *a, {}), std::nullopt);
  EXPECT_THAT(find_difference(*a, *b, {}),
              Optional(Eq(R"(1 of 2 numbers differ, the first at [1]: "y", expected "z")")));
}

TEST(Compare, RefusesAnotherTypeOrShape) {
  EXPECT_THAT(find_difference(tensor<float>({2}, {1, 2}), tensor<float>({1, 2}, {1, 2}), {}),
              Optional(Eq("it is float[2], expected float[1,2]")));
  EXPECT_THAT(find_difference(tensor<int32_t>({1}, {1}), tensor<int64_t>({1}, {1}), {}),
              Optional(Eq("it is int32[1], expected int64[1]")));
}

TEST(Compare, SaysWhichComplexNumberDiffers) {
  auto a = Value::allocate(ElementType::kComplex64, {3});
  auto b = Value::allocate(ElementType::kComplex64, {3});
  ASSERT_THAT(a, IsOk());
  ASSERT_THAT(b, IsOk());
  reinterpret_cast<float*>(a->mutable_bytes().data())[5] = 2;
  EXPECT_THAT(find_difference(*a, *b, {}),
              Optional(Eq("1 of 6 numbers differ, the first at [2]: 2, expected 0")));
}

TEST(Compare, AcceptsEmptyTensors) {
  EXPECT_EQ(find_difference(tensor<float>({0, 2}, {}), tensor<float>({0, 2}, {}), {}),
            std::nullopt);
}

TEST(Compare, LooksIntoSequencesAndMaps) {
  const Value one = tensor<float>({1}, {1});
  const Value two = tensor<float>({1}, {2});
  const auto sequence = [](std::vector<Value> parts) { return *Value::sequence(std::move(parts)); };
  EXPECT_EQ(find_difference(sequence({one, two}), sequence({one, two}), {}), std::nullopt);
  EXPECT_EQ(find_difference(Value(), Value(), {}), std::nullopt);
  EXPECT_THAT(find_difference(sequence({one, one}), sequence({one, two}), {}),
              Optional(Eq("in element 1: 1 of 1 number differ, the first at [0]: 1, expected 2")));
  EXPECT_THAT(find_difference(sequence({one}), sequence({one, two}), {}),
              Optional(Eq("it is seq(float) of 1, expected seq(float) of 2")));
  EXPECT_THAT(find_difference(Value(), one, {}), Optional(Eq("it is none, expected float[1]")));
  const Value keys = *Value::of_strings({1}, {"a"});
  EXPECT_THAT(find_difference(*Value::map(keys, one), *Value::map(keys, two), {}),
              Optional(Eq("in the values: 1 of 1 number differ, the first at [0]: 1, expected 2")));
}

}  // namespace
}  // namespace ephost::cli::compare_test
