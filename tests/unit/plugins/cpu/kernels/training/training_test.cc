// Operators in training: BatchNormalization with the statistics of the batch, Dropout with a seed.
#include <cmath>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::training_test {
namespace {

class BatchNormalizationTraining : public ::testing::Test {
 protected:
  static constexpr int64_t kPlane = 35;

  BatchNormalizationTraining() {
    for (std::size_t c = 0; c < 3; ++c) {
      std::vector<double> values;
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (i / kPlane % 3 == c) values.push_back(from[i]);
      }
      double sum = 0;
      for (const double value : values) sum += value;
      mean.push_back(sum / static_cast<double>(values.size()));
      double squares = 0;
      for (const double value : values) squares += (value - mean[c]) * (value - mean[c]);
      variance.push_back(squares / static_cast<double>(values.size()));
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t c = i / kPlane % 3;
      y.push_back((from[i] - mean[c]) / std::sqrt(variance[c] + 1e-5) * as_doubles(scale)[c] +
                  as_doubles(bias)[c]);
    }
  }

  // old * 0.75 + batch * 0.25
  static Tensor moved(const Tensor& old, const std::vector<double>& batch) {
    std::vector<double> running = as_doubles(old);
    for (std::size_t c = 0; c < 3; ++c) running[c] = running[c] * 0.75 + batch[c] * 0.25;
    return from_doubles({3}, running);
  }

  const Tensor x = random_floats({2, 3, 5, 7}, 1, -2, 5);
  const Tensor scale = random_floats({3}, 2);
  const Tensor bias = random_floats({3}, 3);
  const Tensor old_mean = random_floats({3}, 4);
  const Tensor old_variance = random_floats({3}, 5, 0.1F, 2);
  const std::vector<Tensor> inputs = {x, scale, bias, old_mean, old_variance};
  std::vector<double> from = as_doubles(x);
  std::vector<double> mean, variance, y;
};

TEST_F(BatchNormalizationTraining, NormalisesByTheBatchAndMovesTheRunningStatistics) {
  for (const int32_t version : {14, 15, 25}) {
    const Outcome outcome = run_node("BatchNormalization", version, inputs,
                                     {{"training_mode", int64_t{1}}, {"momentum", 0.75F}}, 3);
    ASSERT_THAT(outcome, IsOk());
    EXPECT_EQ(difference(outcome.outputs[0], from_doubles(x.shape, y), 1e-4, 1e-5), "");
    EXPECT_EQ(difference(outcome.outputs[1], moved(old_mean, mean), 1e-4, 1e-5), "");
    EXPECT_EQ(difference(outcome.outputs[2], moved(old_variance, variance), 1e-4, 1e-5), "");
  }
}

TEST_F(BatchNormalizationTraining, GivesTheBatchsStatisticsBeforeVersion14) {
  const Outcome outcome = run_node("BatchNormalization", 9, inputs, {{"momentum", 0.75F}}, 5);
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(difference(outcome.outputs[0], from_doubles(x.shape, y), 1e-4, 1e-5), "");
  EXPECT_EQ(difference(outcome.outputs[2], moved(old_variance, variance), 1e-4, 1e-5), "");
  EXPECT_EQ(difference(outcome.outputs[3], from_doubles({3}, mean), 1e-4, 1e-5), "");
  EXPECT_EQ(difference(outcome.outputs[4], from_doubles({3}, variance), 1e-4, 1e-5), "");
}

TEST_F(BatchNormalizationTraining, IsAskedForByAnAttributeBeforeVersion7) {
  EXPECT_EQ(
      difference(run_one("BatchNormalization", 6, inputs), from_doubles(x.shape, y), 1e-4, 1e-5),
      "");
  EXPECT_EQ(difference(run_one("BatchNormalization", 6, inputs, {{"is_test", int64_t{1}}}),
                       run_one("BatchNormalization", 15, inputs), 1e-6, 1e-6),
            "");
}

TEST(DropoutTraining, DropsAboutTheRatioAndScalesTheRest) {
  const Tensor x = floats({100, 100}, std::vector<float>(10000, 3));
  const Outcome outcome =
      run_node("Dropout", 13, {x, floats({}, {0.25F}), bools({}, {1})}, {{"seed", int64_t{7}}}, 2);
  ASSERT_THAT(outcome, IsOk());
  const auto mask = values_of<uint8_t>(outcome.outputs[1]);
  const auto y = values_of<float>(outcome.outputs[0]);
  int kept = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    kept += mask[i];
    EXPECT_FLOAT_EQ(y[i], mask[i] != 0 ? 4.0F : 0.0F);
  }
  EXPECT_NEAR(kept, 7500, 200);
}

TEST(DropoutTraining, RepeatsItselfOnlyWithASeed) {
  const std::vector<Tensor> inputs = {random_floats({1000}), floats({}, {0.5F}), bools({}, {1})};
  const Attributes seeded = {{"seed", int64_t{1}}};
  EXPECT_EQ(
      difference(run_one("Dropout", 13, inputs, seeded), run_one("Dropout", 13, inputs, seeded)),
      "");
  EXPECT_NE(difference(run_one("Dropout", 13, inputs), run_one("Dropout", 13, inputs)), "");
}

TEST(DropoutTraining, SharesNoMemoryWithAnInputThatOthersMayRead) {
  const auto node =
      make_node("Dropout", 13, {random_floats({8}), floats({}, {0.5F}), bools({}, {1})});
  Outcome outcome;
  const auto kernel = cpu_session().create(*node, &outcome);
  ASSERT_NE(kernel, nullptr) << outcome.message;
  EXPECT_EQ(kernel->info().alias_count, 0U);
}

TEST(DropoutTraining, IsTheDefaultBeforeVersion7) {
  const Tensor x = floats({1000}, std::vector<float>(1000, 1));
  EXPECT_NE(difference(run_one("Dropout", 6, {x}), x), "");
  EXPECT_EQ(difference(run_one("Dropout", 6, {x}, {{"is_test", int64_t{1}}}), x), "");
}

}  // namespace
}  // namespace ephost::test::training_test
