// Softmax, LogSoftmax, Hardmax and the normalisations, against formulas in double.
#include <cmath>
#include <limits>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::normalization_test {
namespace {

// Applies `line` to each line of `extent` elements that lie `inner` apart.
template <class Line>
Tensor along(const Tensor& x, int64_t extent, int64_t inner, const Line& line) {
  std::vector<double> values = as_doubles(x);
  const int64_t lines = count_of(x.shape) / extent;
  for (int64_t l = 0; l < lines; ++l) {
    const int64_t first = l / inner * extent * inner + l % inner;
    std::vector<double> one;
    for (int64_t i = 0; i < extent; ++i)
      one.push_back(values[static_cast<std::size_t>(first + i * inner)]);
    line(one);
    for (int64_t i = 0; i < extent; ++i) {
      values[static_cast<std::size_t>(first + i * inner)] = one[static_cast<std::size_t>(i)];
    }
  }
  return from_doubles(x.shape, values);
}

void softmax(std::vector<double>& line) {
  double sum = 0;
  for (double& value : line) sum += value = std::exp(value);
  for (double& value : line) value /= sum;
}

void log_softmax(std::vector<double>& line) {
  double sum = 0;
  for (const double value : line) sum += std::exp(value);
  for (double& value : line) value -= std::log(sum);
}

void hardmax(std::vector<double>& line) {
  const auto best = std::max_element(line.begin(), line.end());
  for (auto it = line.begin(); it != line.end(); ++it) {
    if (it != best) *it = 0;
  }
  *best = 1;
}

struct SoftmaxCase {
  Shape shape;
  int64_t axis;
  int64_t extent, inner;  // of one line, from version 13 on
  int64_t flattened;      // of one line before
};

void PrintTo(const SoftmaxCase& test, std::ostream* out) {
  *out << ::testing::PrintToString(test.shape) << " axis " << test.axis;
}

class SoftmaxFamily : public ::testing::TestWithParam<SoftmaxCase> {};

TEST_P(SoftmaxFamily, AgreesWithTheFormulas) {
  const auto& [shape, axis, extent, inner, flattened] = GetParam();
  const Tensor x = random_floats(shape, 11, -6, 6);
  const auto check = [&, axis = axis, extent = extent, inner = inner, flattened = flattened](
                         const char* op_type, void (*line)(std::vector<double>&)) {
    const Attributes attributes = {{"axis", axis}};
    const Tensor expected = along(x, extent, inner, line);
    EXPECT_EQ(difference(run_one(op_type, 13, {x}, attributes), expected, 1e-5, 1e-6), "")
        << op_type;
    EXPECT_EQ(difference(run_one(op_type, 13, {to_double_tensor(x)}, attributes),
                         to_double_tensor(expected), 1e-5, 1e-6),
              "");
    EXPECT_EQ(
        difference(run_one(op_type, 11, {x}, attributes), along(x, flattened, 1, line), 1e-5, 1e-6),
        "")
        << op_type;
  };
  check("Softmax", softmax);
  check("LogSoftmax", log_softmax);
  check("Hardmax", hardmax);
}

INSTANTIATE_TEST_SUITE_P(Axes, SoftmaxFamily,
                         ::testing::Values(SoftmaxCase{{40, 1000}, 1, 1000, 1, 1000},
                                           SoftmaxCase{{2, 12, 33, 33}, -1, 33, 1, 33},
                                           SoftmaxCase{{3, 21, 10, 15}, 1, 21, 150, 21 * 150},
                                           SoftmaxCase{{5, 7}, 0, 5, 7, 35},
                                           SoftmaxCase{{4, 1, 3}, -2, 1, 3, 3}));

TEST(SoftmaxKernels, StayFiniteForLargeNumbers) {
  const Tensor x = floats({2, 2}, {10000, 10001, -10000, -10001});
  EXPECT_THAT(run_node("Softmax", 13, {x}),
              Gives(std::vector<Tensor>{
                  floats({2, 2}, {0.26894142F, 0.73105858F, 0.73105858F, 0.26894142F})}));
  EXPECT_THAT(run_node("LogSoftmax", 13, {x}),
              Gives(std::vector<Tensor>{
                  floats({2, 2}, {-1.3132617F, -0.3132617F, -0.3132617F, -1.3132617F})}));
}

TEST(SoftmaxKernels, GiveZeroToMinusInfinity) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Tensor x = floats({2, 3}, {-kInf, 5, -kInf, -kInf, -80, 10});
  const std::vector<float> y = values_of<float>(run_one("Softmax", 13, {x}));
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[3], 0);
  EXPECT_LT(y[4], 1e-37F);
}

TEST(SoftmaxKernels, TakeScalarsAndEmptyTensors) {
  EXPECT_THAT(run_node("Softmax", 13, {floats({}, {3})}),
              Gives(std::vector<Tensor>{floats({}, {1})}));
  EXPECT_THAT(run_node("Softmax", 13, {floats({3, 0}, {})}),
              Gives(std::vector<Tensor>{floats({3, 0}, {})}));
}

// ---- Normalisation -----------------------------------------------------------------------------

struct Stats {
  double mean = 0, variance = 0;
};

Stats stats_of(const std::vector<double>& values) {
  Stats stats;
  for (const double value : values) stats.mean += value / static_cast<double>(values.size());
  for (const double value : values) {
    stats.variance +=
        (value - stats.mean) * (value - stats.mean) / static_cast<double>(values.size());
  }
  return stats;
}

TEST(BatchNormalization, AppliesScaleAndShiftForEachChannel) {
  const Shape shape = {2, 3, 20, 21};
  const Tensor x = random_floats(shape, 1);
  const Tensor scale = random_floats({3}, 2);
  const Tensor bias = random_floats({3}, 3);
  const Tensor mean = random_floats({3}, 4);
  const Tensor variance = random_floats({3}, 5, 0.1F, 2);
  std::vector<double> y = as_doubles(x);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t c = i / 420 % 3;
    y[i] = (y[i] - as_doubles(mean)[c]) / std::sqrt(as_doubles(variance)[c] + 1e-3) *
               as_doubles(scale)[c] +
           as_doubles(bias)[c];
  }
  for (const int32_t version : {7, 9, 14, 15}) {
    EXPECT_EQ(difference(run_one("BatchNormalization", version, {x, scale, bias, mean, variance},
                                 {{"epsilon", 1e-3F}}),
                         from_doubles(shape, y), 1e-5, 1e-5),
              "");
  }
}

TEST(BatchNormalization, HasStatisticsForEachPositionWithoutSpatial) {
  const Tensor two = floats({1, 2}, {2, 4});
  const Tensor zero = floats({1, 2}, {0, 0});
  const Tensor one = floats({1, 2}, {1, 1});
  EXPECT_THAT(
      run_node("BatchNormalization", 7, {floats({2, 1, 2}, {1, 2, 3, 4}), two, one, zero, one},
               {{"spatial", int64_t{0}}, {"epsilon", 0.0F}}),
      Gives(std::vector<Tensor>{floats({2, 1, 2}, {3, 9, 7, 17})}));
}

TEST(InstanceNormalization, NormalisesEachPlane) {
  const Tensor x = random_floats({2, 3, 700}, 1, 5, 9);
  const Tensor scale = random_floats({3}, 2);
  const Tensor bias = random_floats({3}, 3);
  int64_t plane = 0;
  const Tensor expected = along(x, 700, 1, [&](std::vector<double>& line) {
    const Stats stats = stats_of(line);
    const auto c = static_cast<std::size_t>(plane++ % 3);
    for (double& value : line) {
      value = (value - stats.mean) / std::sqrt(stats.variance + 1e-5) * as_doubles(scale)[c] +
              as_doubles(bias)[c];
    }
  });
  EXPECT_EQ(difference(run_one("InstanceNormalization", 6, {x, scale, bias}), expected, 1e-4, 1e-5),
            "");
}

TEST(LayerNormalization, NormalisesAndGivesItsStatistics) {
  const Tensor x = random_floats({3, 5, 400}, 1, -3, 8);
  const Tensor scale = random_floats({5, 400}, 2);
  const Tensor bias = random_floats({400}, 3);  // broadcast
  std::vector<double> means;
  std::vector<double> deviations;
  const Tensor expected = along(x, 2000, 1, [&](std::vector<double>& line) {
    const Stats stats = stats_of(line);
    means.push_back(stats.mean);
    deviations.push_back(1 / std::sqrt(stats.variance + 1e-5));
    for (std::size_t i = 0; i < line.size(); ++i) {
      line[i] = (line[i] - stats.mean) * deviations.back() * as_doubles(scale)[i] +
                as_doubles(bias)[i % 400];
    }
  });
  const Outcome outcome =
      run_node("LayerNormalization", 17, {x, scale, bias}, {{"axis", int64_t{-2}}}, 3);
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(difference(outcome.outputs[0], expected, 1e-4, 1e-5), "");
  EXPECT_EQ(difference(outcome.outputs[1], from_doubles({3, 1, 1}, means), 1e-5, 1e-6), "");
  EXPECT_EQ(difference(outcome.outputs[2], from_doubles({3, 1, 1}, deviations), 1e-5, 1e-6), "");
}

TEST(Lrn, DividesByTheSquaresOfNeighbouringChannels) {
  const Shape shape = {2, 11, 300};
  const Tensor x = random_floats(shape, 1, -4, 4);
  const std::vector<double> from = as_doubles(x);
  for (const int64_t size : {1, 4, 5, 50}) {
    for (const float beta : {0.75F, 0.5F}) {
      std::vector<double> y;
      for (int64_t i = 0; i < count_of(shape); ++i) {
        const int64_t c = i / 300 % 11;
        double sum = 0;
        for (int64_t d = c - (size - 1) / 2; d <= c + size / 2; ++d) {
          if (d < 0 || d >= 11) continue;
          const double value = from[static_cast<std::size_t>(i + (d - c) * 300)];
          sum += value * value;
        }
        y.push_back(
            from[static_cast<std::size_t>(i)] *
            std::pow(2 + 0.5 / static_cast<double>(size) * sum, -static_cast<double>(beta)));
      }
      const Tensor expected = from_doubles(shape, y);
      const Attributes attributes = {
          {"size", size}, {"alpha", 0.5F}, {"beta", beta}, {"bias", 2.0F}};
      EXPECT_EQ(difference(run_one("LRN", 13, {x}, attributes), expected, 1e-5, 1e-6), "") << size;
    }
  }
}

}  // namespace
}  // namespace ephost::test::normalization_test
