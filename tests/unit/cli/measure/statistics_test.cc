#include "host/cli/measure/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace ephost::cli::statistics_test {
namespace {

TEST(Statistics, TakesTheMeasurementThatAFractionDoesNotExceed) {
  const std::vector<double> ten = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_EQ(percentile(ten, 0.9), 9);
  EXPECT_EQ(percentile(ten, 0), 1);
  EXPECT_EQ(percentile(ten, 1), 10);
  EXPECT_EQ(percentile(std::vector<double>{3}, 0.9), 3);
  EXPECT_EQ(percentile({}, 0.9), 0);
}

TEST(Statistics, TakesTheMiddleMeasurement) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({}), 0);
}

}  // namespace
}  // namespace ephost::cli::statistics_test
