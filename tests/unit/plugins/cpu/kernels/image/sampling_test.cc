// GridSample, AffineGrid, region pooling and MaxUnpool.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::sampling_test {
namespace {

Tensor grid_of(const Tensor& theta, const std::vector<int64_t>& size, int64_t aligns) {
  return run_one("AffineGrid", 20, {theta, ints(size)}, {{"align_corners", aligns}});
}

const Tensor kPlaneIdentity = floats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
const Tensor kSpaceIdentity = floats({1, 3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});

TEST(AffineGrid, PlacesPixelsBetweenMinusOneAndOne) {
  EXPECT_EQ(difference(grid_of(kPlaneIdentity, {1, 1, 2, 3}, 1),
                       floats({1, 2, 3, 2}, {-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1})),
            "");
  const float third = 2.0F / 3;
  EXPECT_EQ(difference(grid_of(kPlaneIdentity, {1, 1, 2, 3}, 0),
                       floats({1, 2, 3, 2}, {-third, -0.5F, 0, -0.5F, third, -0.5F, -third, 0.5F, 0,
                                             0.5F, third, 0.5F})),
            "");
  const Tensor turned = floats({1, 2, 3}, {0, 2, 1, 3, 0, 0});  // x' = 2y + 1, y' = 3x
  EXPECT_EQ(difference(grid_of(turned, {1, 1, 2, 2}, 1),
                       floats({1, 2, 2, 2}, {-1, -3, -1, 3, 3, -3, 3, 3})),
            "");
}

TEST(GridSample, GivesTheInputOnItsOwnGrid) {
  const Tensor plane = random_floats({1, 3, 5, 40}, 1);
  const Tensor space = random_floats({1, 2, 3, 4, 5}, 2);
  for (const int64_t aligns : {0, 1}) {
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      const Attributes attributes = {{"mode", std::string(mode)}, {"align_corners", aligns}};
      EXPECT_EQ(
          difference(run_one("GridSample", 20,
                             {plane, grid_of(kPlaneIdentity, {1, 3, 5, 40}, aligns)}, attributes),
                     plane, 1e-4, 1e-5),
          "")
          << mode;
      EXPECT_EQ(
          difference(run_one("GridSample", 22,
                             {space, grid_of(kSpaceIdentity, {1, 2, 3, 4, 5}, aligns)}, attributes),
                     space, 1e-4, 1e-5),
          "")
          << mode;
    }
  }
}

TEST(GridSample, ReadsBoolsFromTheNearestElement) {
  const Tensor x = bools({1, 1, 3}, {1, 0, 1});
  const Tensor grid = floats({1, 4, 1}, {-1, 0.1F, 0.9F, 3});
  const auto sample = [&](const char* mode) {
    return run_node("GridSample", 20, {x, grid},
                    {{"mode", std::string(mode)}, {"align_corners", int64_t{1}}});
  };
  EXPECT_THAT(sample("nearest"), Gives(std::vector<Tensor>{bools({1, 1, 4}, {1, 0, 1, 0})}));
  EXPECT_EQ(sample("linear").code, EPH_NOT_IMPLEMENTED);
}

// A function that is linear along each dimension is reproduced in any number of dimensions.
TEST(GridSample, InterpolatesInManyDimensions) {
  for (const std::size_t rank : {4U, 5U, 9U, 12U}) {
    Shape x_shape(rank + 2, 2);
    x_shape[0] = x_shape[1] = 1;
    std::vector<float> x(std::size_t{1} << rank);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t d = 0; d < rank; ++d) {  // the last dimension counts most
        if ((i >> (rank - 1 - d) & 1) != 0) x[i] += static_cast<float>(d + 1);
      }
    }
    Shape grid_shape(rank + 2, 1);
    grid_shape[1] = 40;  // more than one block
    grid_shape.back() = static_cast<int64_t>(rank);
    const Tensor grid = random_floats(grid_shape, 1);
    Shape y_shape(rank + 2, 1);
    y_shape[2] = 40;
    std::vector<float> expected(40);
    const auto places = values_of<float>(grid);
    for (std::size_t p = 0; p < expected.size(); ++p) {
      for (std::size_t d = 0; d < rank; ++d) {  // grid points have the last dimension first
        expected[p] += static_cast<float>(d + 1) * (places[p * rank + rank - 1 - d] + 1) / 2;
      }
    }
    const Outcome outcome =
        run_node("GridSample", 20, {floats(x_shape, x), grid}, {{"align_corners", int64_t{1}}});
    if (rank == 12) {
      EXPECT_EQ(outcome.code, EPH_NOT_IMPLEMENTED);
      continue;
    }
    ASSERT_THAT(outcome, IsOk());
    EXPECT_EQ(difference(outcome.outputs[0], floats(y_shape, expected), 1e-4, 1e-4), "") << rank;
  }
}

TEST(GridSample, PadsByItsMode) {
  const Tensor x = floats({1, 1, 3}, {1, 2, 4});
  // Pixels -2.5, -0.5, 0.5, 3.5 and NaN, with corners aligned.
  const float nan = std::nanf("");
  const Tensor grid = floats({1, 5, 1}, {-3.5F, -1.5F, -0.5F, 2.5F, nan});
  const auto sample = [&](const char* padding) {
    return run_node("GridSample", 20, {x, grid},
                    {{"padding_mode", std::string(padding)}, {"align_corners", int64_t{1}}});
  };
  EXPECT_THAT(sample("zeros"),
              Gives(std::vector<Tensor>{floats({1, 1, 5}, {0, 0.5F, 1.5F, 0, 0})}));
  const Outcome border = sample("border");
  ASSERT_THAT(border, IsOk());
  const auto bordered = values_of<float>(border.outputs[0]);
  EXPECT_EQ(std::vector<float>(bordered.begin(), bordered.begin() + 4),
            (std::vector<float>{1, 1, 1.5F, 4}));
  const Outcome reflection = sample("reflection");
  ASSERT_THAT(reflection, IsOk());
  const auto reflected = values_of<float>(reflection.outputs[0]);
  EXPECT_FLOAT_EQ(reflected[0], 2.5F + 0.5F);  // -2.5 -> 1.5
  EXPECT_FLOAT_EQ(reflected[1], 1.5F);
  EXPECT_FLOAT_EQ(reflected[3], 1.5F);  // 3.5 -> 0.5
}

// The weights follow from where the point is, also outside, and each element is clamped for itself.
TEST(GridSample, ClampsEachElementInCubicBorders) {
  const std::vector<float> x = {0, 1, 3, 7};
  const auto weight = [](double distance) {  // Keys' cubic, a = -0.75
    const double d = std::fabs(distance);
    if (d <= 1) return (1.25 * d - 2.25) * d * d + 1;
    return d < 2 ? -0.75 * (((d - 5) * d + 8) * d - 4) : 0.0;
  };
  for (const float given : {-1.1F, -1.3F, -2.0F, 0.9F, 1.2F, 1.6F, 0.1F}) {
    const double place = ((static_cast<double>(given) + 1) * 4 - 1) / 2;
    double expected = 0;
    for (int i = -9; i < 12; ++i) {
      expected += weight(place - i) * static_cast<double>(x[std::clamp(i, 0, 3)]);
    }
    EXPECT_EQ(
        difference(
            run_one("GridSample", 20, {floats({1, 1, 4}, x), floats({1, 1, 1}, {given})},
                    {{"mode", std::string("cubic")}, {"padding_mode", std::string("border")}}),
            floats({1, 1, 1}, {static_cast<float>(expected)}), 1e-4, 1e-4),
        "")
        << given;
  }
}

TEST(RoiAlign, PoolsByAverageOrMaximum) {
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>(i));
  const Tensor x = floats({1, 1, 4, 4}, values);
  const Tensor rois = floats({1, 4}, {0, 0, 4, 4});
  const auto align = [&](int32_t version, const char* mode) {
    return run_node("RoiAlign", version, {x, rois, ints({0})},
                    {{"mode", std::string(mode)},
                     {"output_height", int64_t{2}},
                     {"output_width", int64_t{2}},
                     {"sampling_ratio", int64_t{2}}});
  };
  EXPECT_THAT(align(16, "avg"),
              Gives(std::vector<Tensor>{floats({1, 1, 2, 2}, {2.5F, 4.5F, 10.5F, 12.5F})}));
  EXPECT_THAT(align(16, "max"), Gives(std::vector<Tensor>{floats({1, 1, 2, 2}, {5, 7, 13, 15})}));
  // Without the shift by half a pixel, samples lie at 0.5, 1.5, 2.5 and 3.5, the last on the
  // border: each of the four elements around one has the weight 1/4, 1/2 or 1.
  EXPECT_THAT(align(10, "max"),
              Gives(std::vector<Tensor>{floats({1, 1, 2, 2}, {2.5F, 5.5F, 7, 15})}));
}

// A sample's four products of an element and its weight, by the formula of the interpolation.
std::vector<double> weighted_elements(const std::vector<double>& plane, int64_t height,
                                      int64_t width, double y, double x) {
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) {
    return {0, 0, 0, 0};
  }
  y = std::min(std::max(y, 0.0), static_cast<double>(height - 1));
  x = std::min(std::max(x, 0.0), static_cast<double>(width - 1));
  std::vector<double> products;
  for (const double row : {std::floor(y), std::floor(y) + 1}) {
    for (const double column : {std::floor(x), std::floor(x) + 1}) {
      const double weight = (1 - std::fabs(y - row)) * (1 - std::fabs(x - column));
      const auto at = static_cast<std::size_t>(std::min(row, static_cast<double>(height - 1)) *
                                                   static_cast<double>(width) +
                                               std::min(column, static_cast<double>(width - 1)));
      products.push_back(weight * plane[at]);
    }
  }
  return products;
}

// ONNX's backend data of mode max, as those of test_roialign_mode_max, have the largest weighted
// element, which is 0 where all elements with a weight are negative.
TEST(RoiAlign, TakesTheLargestWeightedElementInModeMax) {
  constexpr int64_t kHeight = 5, kWidth = 7, kBins = 2, kRatio = 3;
  const Tensor x = random_floats({1, 1, kHeight, kWidth}, 3, -2, 1);
  const std::vector<float> roi = {-2, 0.3F, 8.1F, 4.9F};
  for (const bool half_pixel : {true, false}) {
    const double shift = half_pixel ? 0.5 : 0.0;
    std::vector<double> expected;
    for (int64_t bin = 0; bin < kBins * kBins; ++bin) {
      double largest = -std::numeric_limits<double>::infinity();
      for (int64_t s = 0; s < kRatio * kRatio; ++s) {
        const auto place = [&](int64_t b, int64_t i, double begin, double end) {
          const double size = (end - begin) / static_cast<double>(kBins);
          return begin - shift +
                 size * (static_cast<double>(b) +
                         (static_cast<double>(i) + 0.5) / static_cast<double>(kRatio));
        };
        const auto at = [&](std::size_t i) { return static_cast<double>(roi[i]); };
        for (const double product : weighted_elements(
                 as_doubles(x), kHeight, kWidth, place(bin / kBins, s / kRatio, at(1), at(3)),
                 place(bin % kBins, s % kRatio, at(0), at(2)))) {
          largest = std::max(largest, product);
        }
      }
      expected.push_back(largest);
    }
    EXPECT_EQ(difference(run_one("RoiAlign", 16, {x, floats({1, 4}, roi), ints({0})},
                                 {{"mode", std::string("max")},
                                  {"coordinate_transformation_mode",
                                   std::string(half_pixel ? "half_pixel" : "output_half_pixel")},
                                  {"output_height", kBins},
                                  {"output_width", kBins},
                                  {"sampling_ratio", kRatio}}),
                         from_doubles({1, 1, kBins, kBins}, expected), 1e-5, 1e-6),
              "");
  }
}

TEST(RoiAlign, TakesAsManySamplesAsFitWithoutARatio) {
  const Tensor x = random_floats({2, 2, 6, 6}, 1);
  const Tensor rois = floats({1, 4}, {0, 0, 6, 6});
  const auto align = [&](int64_t ratio) {
    return run_one(
        "RoiAlign", 22, {x, rois, ints({1})},
        {{"output_height", int64_t{2}}, {"output_width", int64_t{2}}, {"sampling_ratio", ratio}});
  };
  EXPECT_EQ(difference(align(0), align(3)), "");
}

TEST(MaxRoiPool, TakesTheMaximumOfEachBin) {
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(static_cast<float>(i));
  const Tensor x = floats({1, 1, 4, 4}, values);
  const Tensor rois = floats({3, 5}, {0, 0, 0, 3, 3, 0, 1, 1, 3, 3, 0, 9, 9, 9, 9});
  EXPECT_THAT(
      run_node("MaxRoiPool", 1, {x, rois}, {{"pooled_shape", Shape{2, 2}}}),
      Gives(std::vector<Tensor>{floats({3, 1, 2, 2}, {5, 7, 13, 15, 10, 11, 14, 15, 0, 0, 0, 0})}));
}

TEST(MaxUnpool, UndoesMaxPool) {
  const Tensor x = random_floats({2, 3, 6, 8}, 1, 1, 2);
  const Attributes window = {{"kernel_shape", Shape{2, 2}}, {"strides", Shape{2, 2}}};
  const Outcome pooled = run_node("MaxPool", 12, {x}, window, 2);
  ASSERT_THAT(pooled, IsOk());
  const Tensor restored = run_one("MaxUnpool", 11, {pooled.outputs[0], pooled.outputs[1]}, window);
  EXPECT_EQ(restored.shape, x.shape);
  EXPECT_EQ(difference(run_one("MaxPool", 12, {restored}, window), pooled.outputs[0]), "");
  double sum = 0;
  for (const double value : as_doubles(restored)) sum += value;
  for (const double value : as_doubles(pooled.outputs[0])) sum -= value;
  EXPECT_NEAR(sum, 0, 1e-4);
}

}  // namespace
}  // namespace ephost::test::sampling_test
