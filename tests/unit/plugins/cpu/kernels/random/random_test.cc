// Random operators: shapes, types, reproducibility with a seed, and the distributions' moments.
#include <algorithm>
#include <cmath>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::random_test {
namespace {

using Ints = std::vector<int64_t>;
constexpr int64_t kCount = 100000;

struct Moments {
  double mean = 0, variance = 0, low = 0, high = 0;
};

Moments moments_of(const Tensor& from) {
  const std::vector<double> values =
      from.type == EPH_ELEMENT_DOUBLE ? values_of<double>(from) : as_doubles(from);
  Moments moments;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) moments.mean += value / count;
  for (const double value : values) {
    moments.variance += (value - moments.mean) * (value - moments.mean) / count;
  }
  moments.low = *std::min_element(values.begin(), values.end());
  moments.high = *std::max_element(values.begin(), values.end());
  return moments;
}

TEST(RandomUniform, FillsItsRangeEvenly) {
  const Moments moments = moments_of(
      run_one("RandomUniform", 1, {},
              {{"shape", Ints{kCount}}, {"low", -2.0F}, {"high", 4.0F}, {"seed", 3.0F}}));
  EXPECT_NEAR(moments.mean, 1, 0.03);
  EXPECT_NEAR(moments.variance, 3, 0.05);
  EXPECT_GE(moments.low, -2);
  EXPECT_LT(moments.low, -1.99);
  EXPECT_LE(moments.high, 4);
  EXPECT_GT(moments.high, 3.99);
}

TEST(RandomNormal, HasItsMeanAndDeviation) {
  const Tensor y = run_one("RandomNormal", 1, {},
                           {{"shape", Ints{kCount}},
                            {"mean", 5.0F},
                            {"scale", 2.0F},
                            {"seed", 1.0F},
                            {"dtype", int64_t{EPH_ELEMENT_DOUBLE}}});
  const Moments moments = moments_of(y);
  EXPECT_NEAR(moments.mean, 5, 0.03);
  EXPECT_NEAR(moments.variance, 4, 0.08);
  const auto values = values_of<double>(y);
  const auto within = std::count_if(values.begin(), values.end(),
                                    [](double value) { return std::fabs(value - 5) < 2; });
  EXPECT_NEAR(static_cast<double>(within) / kCount, 0.6827, 0.01);
}

TEST(Randomness, RepeatsWithTheSameSeedOnly) {
  const auto draw = [](const Attributes& attributes) {
    Attributes all = {{"shape", Ints{8}}};
    all.insert(all.end(), attributes.begin(), attributes.end());
    return values_of<float>(run_one("RandomNormal", 1, {}, all));
  };
  EXPECT_EQ(draw({{"seed", 1.0F}}), draw({{"seed", 1.0F}}));
  EXPECT_NE(draw({{"seed", 1.0F}}), draw({{"seed", 2.0F}}));
  EXPECT_NE(draw({}), draw({}));
}

TEST(Randomness, ContinuesFromRunToRunWithoutASeed) {
  SingleNodeGraph node("RandomUniform", 1);
  node.attribute("shape", Ints{4}).output();
  Outcome outcome;
  const auto kernel = cpu_session().create(node, &outcome);
  ASSERT_NE(kernel, nullptr) << outcome.message;
  EXPECT_NE(kernel->run().outputs[0].bytes, kernel->run().outputs[0].bytes);
}

TEST(RandomLike, TakesShapeAndType) {
  const Tensor x = tensor<double>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_one("RandomUniformLike", 1, {x}).type, EPH_ELEMENT_DOUBLE);
  EXPECT_EQ(run_one("RandomNormalLike", 1, {x}).shape, (Shape{2, 3}));
  const Tensor half =
      run_one("RandomUniformLike", 1, {x}, {{"dtype", int64_t{EPH_ELEMENT_FLOAT16}}});
  EXPECT_EQ(half.type, EPH_ELEMENT_FLOAT16);
  EXPECT_EQ(run_one("RandomUniformLike", 1, {half}).type, EPH_ELEMENT_FLOAT16);
  EXPECT_THAT(run_node("RandomUniformLike", 1, {ints({1})}),
              Refuses(EPH_INVALID_ARGUMENT, "no random numbers of type int64"));
  EXPECT_THAT(run_node("RandomUniform", 1, {}),
              Refuses(EPH_INVALID_ARGUMENT, "attribute shape is missing"));
  EXPECT_THAT(run_node("RandomUniform", 1, {}, {{"shape", Ints{-1}}}),
              Refuses(EPH_INVALID_ARGUMENT, "has a negative extent"));
}

TEST(Bernoulli, HitsWithTheGivenProbability) {
  const Tensor p = floats({kCount}, std::vector<float>(kCount, 0.3F));
  EXPECT_NEAR(moments_of(run_one("Bernoulli", 15, {p}, {{"seed", 1.0F}})).mean, 0.3, 0.01);
  const Tensor sure = floats({3}, {0, 1, 1});
  EXPECT_THAT(run_node("Bernoulli", 15, {sure}, {{"dtype", int64_t{EPH_ELEMENT_BOOL}}}),
              Gives(std::vector{bools({3}, {0, 1, 1})}));
  EXPECT_THAT(run_node("Bernoulli", 15, {sure}, {{"dtype", int64_t{EPH_ELEMENT_INT8}}}),
              Gives(std::vector{tensor<int8_t>({3}, {0, 1, 1})}));
}

TEST(Multinomial, DrawsClassesByTheirWeights) {
  const Tensor x = floats({2, 3}, {0, std::log(3.0F), -INFINITY, 5, 5, 5});
  const auto drawn = values_of<int64_t>(
      run_one("Multinomial", 7, {x},
              {{"sample_size", kCount}, {"dtype", int64_t{EPH_ELEMENT_INT64}}, {"seed", 1.0F}}));
  const auto share = [&](int64_t row, int64_t index) {
    const auto first = drawn.begin() + row * kCount;
    return static_cast<double>(std::count(first, first + kCount, index)) / kCount;
  };
  EXPECT_NEAR(share(0, 0), 0.25, 0.01);
  EXPECT_NEAR(share(0, 1), 0.75, 0.01);
  EXPECT_EQ(share(0, 2), 0);
  for (int64_t index = 0; index < 3; ++index) EXPECT_NEAR(share(1, index), 1.0 / 3, 0.01);
  EXPECT_EQ(run_one("Multinomial", 7, {x}).type, EPH_ELEMENT_INT32);
  EXPECT_THAT(run_node("Multinomial", 7, {floats({2, 0}, {})}),
              Refuses(EPH_INVALID_ARGUMENT, "no classes to draw from"));
}

}  // namespace
}  // namespace ephost::test::random_test
