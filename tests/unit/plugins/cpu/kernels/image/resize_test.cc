// Resize and Upsample: what the ONNX backend tests of opset 17 do not cover. Most numbers are those
// of the operator's own examples.
#include <algorithm>
#include <numeric>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::resize_test {
namespace {

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(count_of(shape)));
  std::iota(values.begin(), values.end(), 1.0F);
  return floats(shape, values);
}

// A Resize node without a region.
Outcome resize(int32_t version, const Tensor& x, const std::vector<float>& scales,
               const std::vector<int64_t>& sizes, const Attributes& attributes) {
  SingleNodeGraph node("Resize", version);
  node.input(x).skip_input();
  if (scales.empty()) {
    node.skip_input();
  } else {
    node.input(floats({static_cast<int64_t>(scales.size())}, scales));
  }
  if (!sizes.empty()) node.input(ints(sizes));
  node.output();
  for (const auto& [name, value] : attributes) node.attribute(name, value);
  return cpu_session().run(node);
}

const std::string kLinear = "linear";
const std::string kCubic = "cubic";
const Tensor kSquare = counting({1, 1, 4, 4});

TEST(Resize, AveragesWhatAnOutputCoversWhenAntialiasing) {
  const Attributes linear = {{"mode", kLinear}, {"antialias", int64_t{1}}};
  const Attributes cubic = {{"mode", kCubic}, {"antialias", int64_t{1}}};
  EXPECT_THAT(resize(18, kSquare, {1, 1, 0.6F, 0.6F}, {}, linear),
              Gives(std::vector<Tensor>{floats({1, 1, 2, 2}, {2.875F, 4.5F, 9.375F, 11})}));
  EXPECT_THAT(resize(18, kSquare, {1, 1, 0.6F, 0.6F}, {}, cubic),
              Gives(std::vector<Tensor>{
                  floats({1, 1, 2, 2}, {2.5180721F, 4.2858863F, 9.589329F, 11.357142F})}));
  EXPECT_THAT(resize(19, kSquare, {}, {1, 1, 3, 3}, linear),
              Gives(std::vector<Tensor>{
                  floats({1, 1, 3, 3}, {2.3636363F, 3.590909F, 4.818182F, 7.2727275F, 8.5F,
                                        9.727273F, 12.181818F, 13.409091F, 14.636364F})}));
  EXPECT_THAT(resize(19, kSquare, {}, {1, 1, 3, 3}, cubic),
              Gives(std::vector<Tensor>{
                  floats({1, 1, 3, 3}, {1.7750092F, 3.1200073F, 4.4650054F, 7.1550016F, 8.5F,
                                        9.844998F, 12.534994F, 13.8799925F, 15.224991F})}));
}

TEST(Resize, KeepsTheMiddleInHalfPixelSymmetric) {
  const Attributes attributes = {
      {"mode", kLinear}, {"coordinate_transformation_mode", std::string("half_pixel_symmetric")}};
  EXPECT_THAT(resize(19, counting({1, 1, 1, 4}), {1, 1, 1, 0.6F}, {}, attributes),
              Gives(std::vector<Tensor>{floats({1, 1, 1, 2}, {1.6666667F, 3.3333333F})}));
  EXPECT_THAT(resize(19, counting({1, 1, 2, 2}), {1, 1, 2.3F, 2.94F}, {}, attributes),
              Gives(std::vector<Tensor>{
                  floats({1, 1, 4, 5}, {1,          1.1598639F, 1.5F,       1.8401361F, 2,
                                        1.5652174F, 1.7250813F, 2.0652174F, 2.4053534F, 2.5652174F,
                                        2.4347826F, 2.5946466F, 2.9347826F, 3.2749187F, 3.4347826F,
                                        3,          3.1598639F, 3.5F,       3.8401361F, 4})}));
}

// ONNX's text has "length_resized", and its examples the length before it is rounded down: these
// numbers are those of resize_downsample_scales_linear_align_corners. With sizes there is only one
// length.
TEST(Resize, AlignsCornersOfTheLengthBeforeItIsRounded) {
  const Attributes attributes = {{"mode", kLinear},
                                 {"coordinate_transformation_mode", std::string("align_corners")}};
  EXPECT_THAT(resize(19, counting({1, 1, 2, 4}), {1, 1, 0.6F, 0.6F}, {}, attributes),
              Gives(std::vector<Tensor>{floats({1, 1, 1, 2}, {1, 3.1428573F})}));
  EXPECT_THAT(resize(19, counting({1, 1, 2, 4}), {}, {1, 1, 1, 2}, attributes),
              Gives(std::vector<Tensor>{floats({1, 1, 1, 2}, {1, 4})}));
}

TEST(Resize, TakesSizesAndScalesForSomeAxesOnly) {
  const Tensor x = counting({1, 1, 2, 2});
  const Tensor wide = floats({1, 1, 2, 4}, {1, 1, 2, 2, 3, 3, 4, 4});
  EXPECT_THAT(resize(18, x, {}, {4}, {{"axes", Shape{-1}}}), Gives(std::vector<Tensor>{wide}));
  EXPECT_THAT(resize(18, x, {2}, {}, {{"axes", Shape{3}}}), Gives(std::vector<Tensor>{wide}));
}

TEST(Resize, KeepsTheAspectRatioOnRequest) {
  const Tensor x = counting({1, 1, 2, 4});
  const auto shape = [&](const std::string& policy) {
    const Outcome outcome =
        resize(18, x, {}, {7, 8}, {{"axes", Shape{2, 3}}, {"keep_aspect_ratio_policy", policy}});
    return outcome.ok() ? outcome.outputs[0].shape : Shape();
  };
  EXPECT_EQ(shape("stretch"), (Shape{1, 1, 7, 8}));
  EXPECT_EQ(shape("not_larger"), (Shape{1, 1, 4, 8}));
  EXPECT_EQ(shape("not_smaller"), (Shape{1, 1, 7, 14}));
}

TEST(Resize, WritesTheExtrapolationValueOutsideTheRegion) {
  const Attributes attributes = {
      {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
      {"extrapolation_value", 9.0F},
      {"mode", kLinear}};
  const Tensor roi = floats({2}, {-0.5F, 1});
  EXPECT_THAT(run_node("Resize", 19, {counting({3}), roi, floats({0}, {}), ints({4})}, attributes),
              Gives(std::vector<Tensor>{floats({4}, {9, 1, 2, 3})}));
  Attributes nearest = attributes;
  nearest[2].second = std::string("nearest");
  EXPECT_THAT(run_node("Resize", 13,
                       {tensor<int8_t>({3}, {1, 2, 3}), roi, floats({0}, {}), ints({4})}, nearest),
              Gives(std::vector<Tensor>{tensor<int8_t>({4}, {9, 1, 2, 3})}));
}

TEST(Resize, CopiesTheNearestElementOfAnyType) {
  EXPECT_THAT(resize(13, strings({2}, {"a", "b"}), {2}, {}, {}),
              Gives(std::vector<Tensor>{strings({4}, {"a", "a", "b", "b"})}));
  EXPECT_THAT(resize(13, bools({2}, {1, 0}), {2}, {}, {}),
              Gives(std::vector<Tensor>{bools({4}, {1, 1, 0, 0})}));
}

TEST(Resize, TruncatesIntegers) {
  EXPECT_THAT(resize(13, tensor<int32_t>({2}, {1, 8}), {2}, {}, {{"mode", kLinear}}),
              Gives(std::vector<Tensor>{tensor<int32_t>({4}, {1, 2, 6, 8})}));
  EXPECT_THAT(resize(13, tensor<uint8_t>({2}, {200, 100}), {2}, {}, {{"mode", kLinear}}),
              Gives(std::vector<Tensor>{tensor<uint8_t>({4}, {200, 175, 125, 100})}));
}

TEST(Resize, PassesOverAxesInTheMiddle) {
  // Linear in one dimension: each line along the middle axis on its own.
  const Tensor x = random_floats({3, 5, 70}, 1);
  const Outcome outcome = resize(13, x, {}, {3, 10, 70}, {{"mode", kLinear}});
  ASSERT_THAT(outcome, IsOk());
  const std::vector<double> from = as_doubles(x);
  std::vector<double> expected;
  for (int64_t i = 0; i < 3 * 10 * 70; ++i) {
    const double at = std::clamp((static_cast<double>(i / 70 % 10) + 0.5) / 2 - 0.5, 0.0, 4.0);
    const auto low = static_cast<int64_t>(at);
    const int64_t high = std::min<int64_t>(low + 1, 4);
    const auto element = [&](int64_t row) {
      return from[static_cast<std::size_t>(i / 700 * 350 + row * 70 + i % 70)];
    };
    const double fraction = at - static_cast<double>(low);
    expected.push_back((1 - fraction) * element(low) + fraction * element(high));
  }
  EXPECT_EQ(difference(outcome.outputs[0], from_doubles({3, 10, 70}, expected), 1e-5, 1e-6), "");
}

TEST(Resize, HasNoModesInVersion10) {
  const Tensor scales = floats({2}, {1, 0.6F});
  EXPECT_THAT(run_node("Resize", 10, {counting({1, 4}), scales}),
              Gives(std::vector<Tensor>{floats({1, 2}, {1, 3})}));
  EXPECT_THAT(run_node("Resize", 10, {counting({2}), floats({1}, {2})}, {{"mode", kLinear}}),
              Gives(std::vector<Tensor>{floats({4}, {1, 1.5F, 2, 2})}));
}

TEST(Upsample, EnlargesByScales) {
  const Tensor x = counting({1, 2});
  const Tensor wide = floats({2, 4}, {1, 1, 2, 2, 1, 1, 2, 2});
  EXPECT_THAT(run_node("Upsample", 7, {x}, {{"scales", std::vector<float>{2, 2}}}),
              Gives(std::vector<Tensor>{wide}));
  EXPECT_THAT(run_node("Upsample", 9, {x, floats({2}, {2, 2})}), Gives(std::vector<Tensor>{wide}));
}

}  // namespace
}  // namespace ephost::test::resize_test
