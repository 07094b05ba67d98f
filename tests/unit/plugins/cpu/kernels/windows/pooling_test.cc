// Poolings by norms, and what later versions added to the other poolings. convolution_test.cc
// compares MaxPool and AveragePool with a reference.
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::pooling_test {
namespace {

const Tensor kRow = floats({1, 1, 5}, {1, -2, 3, -4, 5});

TEST(LpPool, GivesTheNormOfEachWindow) {
  const Attributes window = {
      {"kernel_shape", Shape{2}}, {"strides", Shape{2}}, {"pads", Shape{0, 1}}};
  const auto with_p = [&](int64_t p) {
    Attributes attributes = window;
    attributes.emplace_back("p", p);
    return run_node("LpPool", 11, {kRow}, attributes);
  };
  EXPECT_THAT(with_p(1), Gives(std::vector<Tensor>{floats({1, 1, 3}, {3, 7, 5})}));
  EXPECT_THAT(with_p(2), Gives(std::vector<Tensor>{floats({1, 1, 3}, {2.236068F, 5, 5})}));
  EXPECT_THAT(with_p(3),
              Gives(std::vector<Tensor>{floats({1, 1, 3}, {2.0800838F, 4.4979415F, 5})}));
  EXPECT_THAT(run_node("LpPool", 2, {kRow}, window),
              Gives(std::vector<Tensor>{floats({1, 1, 3}, {2.236068F, 5, 5})}));
}

TEST(LpPool, TakesDilationsFromVersion18On) {
  EXPECT_THAT(run_node("LpPool", 18, {kRow}, {{"kernel_shape", Shape{2}}, {"dilations", Shape{3}}}),
              Gives(std::vector<Tensor>{floats({1, 1, 2}, {4.1231056F, 5.3851648F})}));
}

TEST(GlobalLpPool, GivesTheNormOfEachPlane) {
  EXPECT_THAT(run_node("GlobalLpPool", 2, {kRow}, {{"p", int64_t{1}}}),
              Gives(std::vector<Tensor>{floats({1, 1, 1}, {15})}));
  EXPECT_THAT(run_node("GlobalLpPool", 22, {kRow}),
              Gives(std::vector<Tensor>{floats({1, 1, 1}, {7.4161985F})}));
  EXPECT_THAT(run_node("GlobalLpPool", 1, {kRow}, {{"p", 4.0F}}),
              Gives(std::vector<Tensor>{floats({1, 1, 1}, {5.5936548F})}));
}

TEST(AveragePool, TakesDilationsFromVersion19On) {
  const Tensor x = floats({1, 1, 5}, {1, 2, 3, 4, 5});
  Attributes window = {{"kernel_shape", Shape{2}}, {"dilations", Shape{2}}, {"pads", Shape{1, 1}}};
  EXPECT_THAT(run_node("AveragePool", 19, {x}, window),
              Gives(std::vector<Tensor>{floats({1, 1, 5}, {2, 2, 3, 4, 4})}));
  window.emplace_back("count_include_pad", int64_t{1});
  EXPECT_THAT(run_node("AveragePool", 19, {x}, window),
              Gives(std::vector<Tensor>{floats({1, 1, 5}, {1, 2, 3, 4, 2})}));
}

TEST(Windows, DoNotBeginInThePaddingAtTheEnd) {
  const Tensor x = floats({1, 1, 2}, {2, 4});
  const Attributes window = {{"kernel_shape", Shape{3}},
                             {"strides", Shape{3}},
                             {"pads", Shape{1, 1}},
                             {"ceil_mode", int64_t{1}}};
  for (const int32_t version : {10, 11, 19, 22}) {
    EXPECT_THAT(run_node("AveragePool", version, {x}, window),
                Gives(std::vector<Tensor>{floats({1, 1, 1}, {3})}));
  }
  for (const int32_t version : {10, 12, 22}) {
    EXPECT_THAT(
        run_node("MaxPool", version, {x}, window, 2),
        Gives(std::vector<Tensor>{floats({1, 1, 1}, {4}), tensor<int64_t>({1, 1, 1}, {1})}));
  }
  for (const int32_t version : {18, 22}) {
    EXPECT_THAT(run_node("LpPool", version, {x}, window),
                Gives(std::vector<Tensor>{floats({1, 1, 1}, {4.472136F})}));
  }
}

TEST(Windows, HaveTheirNumberRoundedUpWithAutoPadValidToo) {
  const Tensor x = floats({1, 1, 6}, {1, 2, 3, 4, 5, 6});
  const Attributes window = {{"kernel_shape", Shape{3}},
                             {"strides", Shape{2}},
                             {"auto_pad", std::string("VALID")},
                             {"ceil_mode", int64_t{1}}};
  EXPECT_THAT(run_node("MaxPool", 12, {x}, window),
              Gives(std::vector<Tensor>{floats({1, 1, 3}, {3, 5, 6})}));
}

TEST(MaxPool, TakesBytes) {
  const Attributes window = {{"kernel_shape", Shape{2}}};
  EXPECT_THAT(run_node("MaxPool", 12, {tensor<int8_t>({1, 1, 3}, {-5, -7, -6})}, window),
              Gives(std::vector<Tensor>{tensor<int8_t>({1, 1, 2}, {-5, -6})}));
  EXPECT_THAT(run_node("MaxPool", 12, {tensor<uint8_t>({1, 1, 3}, {5, 200, 6})}, window),
              Gives(std::vector<Tensor>{tensor<uint8_t>({1, 1, 2}, {200, 200})}));
}

TEST(MaxPool, OfBytesIsThatOfFloats) {
  for (const int64_t stride : {1, 2, 3}) {
    const Shape shape = {2, 3, 9, 71};
    const std::vector<float> numbers = values_of<float>(random_floats(shape, 5, -128, 127));
    std::vector<int8_t> bytes;
    std::vector<float> rounded;
    for (const float number : numbers) {
      bytes.push_back(static_cast<int8_t>(number));
      rounded.push_back(bytes.back());
    }
    const Attributes window = {{"kernel_shape", std::vector<int64_t>{3, 3}},
                               {"pads", std::vector<int64_t>{1, 1, 1, 1}},
                               {"strides", std::vector<int64_t>{2, stride}}};
    const Tensor pooled = run_one("MaxPool", 12, {tensor<int8_t>(shape, bytes)}, window);
    const Tensor expected = run_one("MaxPool", 12, {floats(shape, rounded)}, window);
    EXPECT_EQ(pooled.shape, expected.shape);
    std::vector<float> actual;
    for (const int8_t byte : values_of<int8_t>(pooled)) actual.push_back(byte);
    EXPECT_EQ(actual, values_of<float>(expected)) << stride;
  }
}

}  // namespace
}  // namespace ephost::test::pooling_test
