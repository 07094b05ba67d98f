// The normalisations over groups of channels, over chosen axes and by the root mean square.
#include <cmath>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::group_normalization_test {
namespace {

TEST(GroupNormalization, NormalisesEachGroupOfChannels) {
  const Tensor x = random_floats({2, 6, 5, 4}, 1, -3, 8);
  const Tensor by_channel = random_floats({6}, 2);
  const Tensor shifts = random_floats({6}, 3);
  const std::vector<double> from = as_doubles(x);
  std::vector<double> y;
  std::vector<double> y18;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t start = i / 40 * 40;  // two channels of twenty
    double mean = 0;
    for (std::size_t j = start; j < start + 40; ++j) mean += from[j] / 40;
    double variance = 0;
    for (std::size_t j = start; j < start + 40; ++j) {
      variance += (from[j] - mean) * (from[j] - mean) / 40;
    }
    const double normal = (from[i] - mean) / std::sqrt(variance + 1e-5);
    const std::size_t c = i / 20 % 6;
    y.push_back(normal * as_doubles(by_channel)[c] + as_doubles(shifts)[c]);
    y18.push_back(normal * as_doubles(by_channel)[c / 2] + as_doubles(shifts)[c / 2]);
  }
  const Attributes attributes = {{"num_groups", int64_t{3}}};
  EXPECT_EQ(difference(run_one("GroupNormalization", 21, {x, by_channel, shifts}, attributes),
                       from_doubles(x.shape, y), 1e-4, 1e-5),
            "");
  const auto first_three = [](const Tensor& all) {
    const auto values = values_of<float>(all);
    return floats({3}, {values[0], values[1], values[2]});
  };
  EXPECT_EQ(difference(run_one("GroupNormalization", 18,
                               {x, first_three(by_channel), first_three(shifts)}, attributes),
                       from_doubles(x.shape, y18), 1e-4, 1e-5),
            "");
}

TEST(RmsNormalization, DividesByTheRootOfTheMeanSquare) {
  const Tensor x = random_floats({3, 4, 50}, 1, -3, 8);
  const Tensor scale = random_floats({50}, 2);
  for (const int64_t axis : {-1, 1}) {
    const std::size_t extent = axis == 1 ? 200 : 50;
    std::vector<double> y = as_doubles(x);
    for (std::size_t start = 0; start < y.size(); start += extent) {
      double squares = 0;
      for (std::size_t i = start; i < start + extent; ++i) squares += y[i] * y[i];
      const double root = std::sqrt(squares / static_cast<double>(extent) + 1e-3);
      for (std::size_t i = start; i < start + extent; ++i) {
        y[i] = y[i] / root * as_doubles(scale)[i % 50];
      }
    }
    const Attributes attributes = {{"axis", axis}, {"epsilon", 1e-3F}};
    EXPECT_EQ(difference(run_one("RMSNormalization", 23, {x, scale}, attributes),
                         from_doubles(x.shape, y), 1e-4, 1e-5),
              "");
    EXPECT_EQ(difference(run_one("RMSNormalization", 23, {to_double_tensor(x), scale}, attributes),
                         to_double_tensor(from_doubles(x.shape, y)), 1e-4, 1e-5),
              "");
  }
}

TEST(LayerNormalization, TakesWeightsForEachRow) {
  const Tensor x = floats({2, 2}, {1, 3, 5, 1});
  const Tensor scale = floats({2, 2}, {1, 1, 2, 2});
  const Tensor bias = floats({2, 1}, {10, 20});
  EXPECT_THAT(run_node("LayerNormalization", 17, {x, scale, bias}, {{"epsilon", 0.0F}}),
              Gives(std::vector<Tensor>{floats({2, 2}, {9, 11, 22, 18})}));
}

TEST(MeanVarianceNormalization, NormalisesOverTheAxes) {
  const Tensor x = floats({2, 2, 2}, {1, 10, 3, 10, 5, 30, 7, 30});
  // Over the first two dimensions: 1, 3, 5, 7 and 10, 10, 30, 30.
  const float outer = 1.3416408F;
  const float inner = 0.4472136F;
  EXPECT_THAT(
      run_node("MeanVarianceNormalization", 13, {x}, {{"axes", Shape{0, -2}}}),
      Gives(std::vector<Tensor>{floats({2, 2, 2}, {-outer, -1, -inner, -1, inner, 1, outer, 1})}));
}

TEST(LpNormalization, DividesByTheNorm) {
  const Tensor x = floats({2, 2}, {3, -4, 0, 0});
  EXPECT_THAT(run_node("LpNormalization", 1, {x}),
              Gives(std::vector<Tensor>{floats({2, 2}, {0.6F, -0.8F, 0, 0})}));
  EXPECT_THAT(run_node("LpNormalization", 22, {x}, {{"p", int64_t{1}}, {"axis", int64_t{0}}}),
              Gives(std::vector<Tensor>{floats({2, 2}, {1, -1, 0, 0})}));
}

}  // namespace
}  // namespace ephost::test::group_normalization_test
