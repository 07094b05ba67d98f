#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "host/cli/values/elements.h"
#include "host/cli/values/inputs.h"
#include "tests/support/status_matchers.h"

namespace ephost::cli::random_value_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

std::vector<double> numbers(ElementType type, uint64_t seed) {
  const auto value = random_value(type, {1000}, seed);
  EXPECT_THAT(value, IsOk());
  const Elements elements(*value);
  std::vector<double> all;
  for (uint64_t i = 0; i < elements.count(); ++i) all.push_back(elements.number(i));
  return all;
}

// The share of the numbers that fulfil the predicate.
template <class Predicate>
double share(const std::vector<double>& numbers, Predicate predicate) {
  return static_cast<double>(std::ranges::count_if(numbers, predicate)) /
         static_cast<double>(numbers.size());
}

TEST(RandomValue, FillsFloatsEvenlyBetweenMinusOneAndOne) {
  for (const ElementType type :
       {ElementType::kFloat, ElementType::kDouble, ElementType::kFloat16, ElementType::kBfloat16}) {
    const auto all = numbers(type, 1);
    EXPECT_TRUE(std::ranges::all_of(all, [](double x) { return x >= -1 && x < 1; }));
    EXPECT_NEAR(share(all, [](double x) { return x < 0; }), 0.5, 0.1);
    EXPECT_NEAR(share(all, [](double x) { return x > 0.5; }), 0.25, 0.07);
  }
}

TEST(RandomValue, FillsIntegersWithZerosAndOnes) {
  for (const ElementType type :
       {ElementType::kInt64, ElementType::kUint8, ElementType::kBool, ElementType::kInt16}) {
    const auto all = numbers(type, 1);
    EXPECT_TRUE(std::ranges::all_of(all, [](double x) { return x == 0 || x == 1; }));
    EXPECT_NEAR(share(all, [](double x) { return x == 1; }), 0.5, 0.1);
  }
}

TEST(RandomValue, DependsOnTheSeedAlone) {
  EXPECT_EQ(numbers(ElementType::kFloat, 7), numbers(ElementType::kFloat, 7));
  EXPECT_NE(numbers(ElementType::kFloat, 7), numbers(ElementType::kFloat, 8));
  // The same on every machine.
  EXPECT_EQ(numbers(ElementType::kDouble, 0)[0], numbers(ElementType::kFloat, 0)[0]);
}

TEST(RandomValue, RefusesTypesWithoutNumbers) {
  const auto value = random_value(ElementType::kString, {1}, 0);
  ASSERT_FALSE(value.ok());
  EXPECT_THAT(value.status().message(), HasSubstr("no random tensors of string"));
}

}  // namespace
}  // namespace ephost::cli::random_value_test
