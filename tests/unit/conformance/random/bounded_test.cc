#include "host/conformance/random/numbers/bounded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ephost::conformance::bounded_test {
namespace {

std::vector<float> random_floats(std::size_t count, double low, double high) {
  std::mt19937 engine(5);
  std::uniform_real_distribution<float> draw(static_cast<float>(low), static_cast<float>(high));
  std::vector<float> floats(count);
  for (float& x : floats) x = draw(engine);
  return floats;
}

TEST(Sum, AllowsEveryOrder) {
  std::vector<float> terms = random_floats(500, -3, 3);
  Sum sum;
  for (const float term : terms) sum.add({term, 0});
  const Bounded total = sum.total();
  std::mt19937 engine(1);
  for (int i = 0; i < 100; ++i) {
    std::shuffle(terms.begin(), terms.end(), engine);
    float result = 0;
    for (const float term : terms) result += term;
    EXPECT_TRUE(total.allows(result)) << result;
  }
}

TEST(Sum, DoesNotAllowThatATermIsMissing) {
  const std::vector<float> terms = random_floats(500, 0.1, 3);
  Sum sum;
  float result = 0;
  for (const float term : terms) sum.add({term, 0});
  for (std::size_t i = 1; i < terms.size(); ++i) result += terms[i];
  EXPECT_FALSE(sum.total().allows(result));
}

TEST(Sum, OfProductsAllowsThemFused) {
  const std::vector<float> a = random_floats(64, -3, 3), b = random_floats(64, -2, 5);
  Sum sum;
  float fused = 0, separate = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum.add_product({a[i], 0}, {b[i], 0});
    fused = std::fma(a[i], b[i], fused);
    separate += a[i] * b[i];
  }
  EXPECT_TRUE(sum.total().allows(fused));
  EXPECT_TRUE(sum.total().allows(separate));
  EXPECT_FALSE(sum.total().allows(fused + 0.001F));
}

TEST(Bounded, PropagatesTheErrorsOfItsOperands) {
  const Bounded x{2, 0.01}, y{-3, 0.02};
  for (const double a : {x.low(), x.high()}) {
    for (const double b : {y.low(), y.high()}) {
      EXPECT_LE(std::fabs(a + b - (x + y).value), (x + y).error);
      EXPECT_LE(std::fabs(a * b - (x * y).value), (x * y).error);
      EXPECT_LE(std::fabs(a / b - (x / y).value), (x / y).error);
    }
  }
}

TEST(Bounded, IsUnspecifiedWhereRoundingDecides) {
  EXPECT_FALSE((Bounded{1, 0} / Bounded{1e-9, 1e-6}).is_specified());
  EXPECT_FALSE(power({1e-9, 1e-6}, -0.5).is_specified());
  EXPECT_FALSE((Bounded{3e38, 0} + Bounded{2e38, 0}).is_specified());
  EXPECT_FALSE(maximum(unspecified(), {HUGE_VAL, 0}).is_specified());
  EXPECT_TRUE(unspecified().allows(std::nanf("")));
}

TEST(Bounded, RequiresNonFiniteNumbersExactly) {
  const Bounded infinity = Bounded{HUGE_VAL, 0} * Bounded{2, 0};
  EXPECT_TRUE(infinity.allows(HUGE_VALF));
  EXPECT_FALSE(infinity.allows(3e38F));
  EXPECT_FALSE(infinity.allows(std::nanf("")));
  const Bounded nan = infinity - infinity;
  EXPECT_TRUE(nan.allows(std::nanf("")));
  EXPECT_FALSE(nan.allows(0));
}

TEST(Monotonic, OverflowsToInfinity) {
  const auto exponential = [](double x) { return std::exp(x); };
  EXPECT_TRUE(monotonic({100, 0.1}, exponential, 0).allows(HUGE_VALF));
  EXPECT_FALSE(monotonic({100, 0.1}, exponential, 0).allows(3.4e38F));
  EXPECT_FALSE(monotonic({88.7, 0.1}, exponential, 0).is_specified());
}

TEST(Bounded, DoesNotAllowNanForANumber) { EXPECT_FALSE((Bounded{1, 0.5}).allows(std::nanf(""))); }

TEST(Maximum, KeepsTheErrorOfTheLargerOneWhereThatIsCertain) {
  EXPECT_EQ(maximum({5, 0.001}, {1, 0.5}).error, 0.001);
  EXPECT_EQ(maximum({5, 0.001}, {4.9, 0.5}).error, 0.5);
}

}  // namespace
}  // namespace ephost::conformance::bounded_test
