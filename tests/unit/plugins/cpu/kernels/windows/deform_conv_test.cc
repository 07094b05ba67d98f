// DeformConv: without offsets it is a convolution, with them each element is interpolated at a
// displaced position.
#include <cmath>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::deform_conv_test {
namespace {

Tensor filled(const Shape& shape, float value) {
  return floats(shape, std::vector<float>(static_cast<std::size_t>(count_of(shape)), value));
}

TEST(DeformConv, IsAConvolutionWithoutOffsets) {
  const Attributes attributes = {{"group", int64_t{2}},
                                 {"strides", Shape{2, 1}},
                                 {"pads", Shape{1, 0, 1, 2}},
                                 {"dilations", Shape{1, 2}}};
  const Tensor x = random_floats({2, 4, 7, 9}, 1);
  const Tensor weights = random_floats({6, 2, 3, 2}, 2);
  const Tensor bias = random_floats({6}, 3);
  const Tensor expected = run_one("Conv", 11, {x, weights, bias}, attributes);
  const Tensor offsets = filled({2, 12, 4, 9}, 0);
  const Tensor mask = filled({2, 6, 4, 9}, 1);
  EXPECT_EQ(difference(run_one("DeformConv", 19, {x, weights, offsets, bias, mask}, attributes),
                       expected, 1e-4, 1e-5),
            "");
  EXPECT_EQ(difference(run_one("DeformConv", 22,
                               {to_double_tensor(x), to_double_tensor(weights),
                                to_double_tensor(offsets), to_double_tensor(bias)},
                               attributes),
                       to_double_tensor(expected), 1e-4, 1e-5),
            "");
}

TEST(DeformConv, InterpolatesAtDisplacedElements) {
  const Tensor x = random_floats({1, 4, 5, 6}, 1);
  const Tensor weights = random_floats({3, 4, 2, 2}, 2);
  const Tensor offsets = random_floats({1, 16, 4, 5}, 3, -3, 3);  // two groups
  const Tensor mask = random_floats({1, 8, 4, 5}, 4);
  const std::vector<double> from = as_doubles(x);
  const auto pixel = [&](int64_t c, double row, double column) {
    if (row < 0 || row > 4 || column < 0 || column > 5) return 0.0;
    return from[static_cast<std::size_t>((c * 5 + static_cast<int64_t>(row)) * 6 +
                                         static_cast<int64_t>(column))];
  };
  std::vector<double> y;
  for (int64_t i = 0; i < 3 * 20; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < 16; ++k) {
      const int64_t c = k / 4;
      const int64_t tap = c / 2 * 4 + k % 4;
      const auto offset = [&](int64_t which) {
        return as_doubles(offsets)[static_cast<std::size_t>((tap * 2 + which) * 20 + i % 20)];
      };
      const double row = static_cast<double>(i % 20 / 5 + k % 4 / 2) + offset(0);
      const double column = static_cast<double>(i % 5 + k % 2) + offset(1);
      const double top = std::floor(row);
      const double left = std::floor(column);
      const double down = row - top;
      const double over = column - left;
      const double value =
          (1 - down) * ((1 - over) * pixel(c, top, left) + over * pixel(c, top, left + 1)) +
          down * ((1 - over) * pixel(c, top + 1, left) + over * pixel(c, top + 1, left + 1));
      sum += value * as_doubles(mask)[static_cast<std::size_t>(tap * 20 + i % 20)] *
             as_doubles(weights)[static_cast<std::size_t>(i / 20 * 16 + k)];
    }
    y.push_back(sum);
  }
  SingleNodeGraph node("DeformConv", 19);
  node.input(x).input(weights).input(offsets).skip_input().input(mask).output();
  node.attribute("offset_group", int64_t{2});
  const Outcome outcome = cpu_session().run(node);
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(difference(outcome.outputs[0], from_doubles({1, 3, 4, 5}, y), 1e-4, 1e-5), "");
}

TEST(DeformConv, TakesOneAndThreeDimensions) {
  const Tensor line = random_floats({1, 2, 8}, 1);
  const Tensor line_weights = random_floats({3, 2, 3}, 2);
  EXPECT_EQ(difference(run_one("DeformConv", 19, {line, line_weights, filled({1, 3, 6}, 0)}),
                       run_one("Conv", 11, {line, line_weights}), 1e-4, 1e-5),
            "");
  const Tensor space = random_floats({1, 2, 4, 5, 3}, 1);
  const Tensor space_weights = random_floats({3, 2, 2, 2, 2}, 2);
  EXPECT_EQ(
      difference(run_one("DeformConv", 19, {space, space_weights, filled({1, 24, 3, 4, 2}, 0)}),
                 run_one("Conv", 11, {space, space_weights}), 1e-4, 1e-5),
      "");
}

}  // namespace
}  // namespace ephost::test::deform_conv_test
