// Operators on float16, bfloat16 and double agree with themselves on float.
#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::float_types_test {
namespace {

struct FloatCase {
  std::string op_type;
  int32_t version;
  std::vector<Tensor> inputs;
  Attributes attributes;
  std::size_t outputs = 1;
};

void PrintTo(const FloatCase& test, std::ostream* out) { *out << test.op_type; }

// Tensors of other types than float, and empty ones, stay as they are.
Tensor cast(const Tensor& from, int32_t type) {
  const bool is_float = from.type == EPH_ELEMENT_FLOAT || from.type == EPH_ELEMENT_DOUBLE ||
                        from.type == EPH_ELEMENT_FLOAT16 || from.type == EPH_ELEMENT_BFLOAT16;
  return is_float && !from.bytes.empty() ? run_one("Cast", 13, {from}, {{"to", int64_t{type}}})
                                         : from;
}

class FloatTypes : public ::testing::TestWithParam<FloatCase> {};

TEST_P(FloatTypes, AgreeWithFloat) {
  const FloatCase& test = GetParam();
  for (const int32_t type : {EPH_ELEMENT_DOUBLE, EPH_ELEMENT_FLOAT16, EPH_ELEMENT_BFLOAT16}) {
    std::vector<Tensor> typed;
    std::vector<Tensor> rounded;  // the same numbers
    for (const Tensor& input : test.inputs) {
      typed.push_back(cast(input, type));
      rounded.push_back(cast(typed.back(), EPH_ELEMENT_FLOAT));
    }
    const Outcome expected =
        run_node(test.op_type, test.version, rounded, test.attributes, test.outputs);
    const Outcome actual =
        run_node(test.op_type, test.version, typed, test.attributes, test.outputs);
    ASSERT_THAT(expected, IsOk());
    ASSERT_THAT(actual, IsOk());
    const double precision = type == EPH_ELEMENT_BFLOAT16 ? 8e-3 : 1e-3;
    for (std::size_t i = 0; i < test.outputs; ++i) {
      EXPECT_EQ(difference(cast(actual.outputs[i], EPH_ELEMENT_FLOAT), expected.outputs[i],
                           precision, precision),
                "")
          << "output " << i << " of type " << type;
    }
  }
}

const Tensor kImage = random_floats({2, 4, 6, 7}, 1, -3, 3);
const Tensor kOne = random_floats({4}, 2);
const Tensor kTwo = random_floats({4}, 3);
const Tensor kPositive = random_floats({4}, 4, 0.5F, 2);

INSTANTIATE_TEST_SUITE_P(
    Normalisations, FloatTypes,
    ::testing::Values(
        FloatCase{"BatchNormalization", 9, {kImage, kOne, kTwo, kOne, kPositive}, {}},
        FloatCase{"BatchNormalization",
                  14,
                  {kImage, kOne, kTwo, kOne, kPositive},
                  {{"training_mode", int64_t{1}}},
                  3},
        FloatCase{"InstanceNormalization", 6, {kImage, kOne, kTwo}, {}},
        FloatCase{"GroupNormalization", 21, {kImage, kOne, kTwo}, {{"num_groups", int64_t{2}}}},
        FloatCase{"LayerNormalization", 17, {kImage, random_floats({7}, 5)}, {}, 3},
        FloatCase{"RMSNormalization", 23, {kImage, random_floats({7}, 5)}, {}},
        FloatCase{"MeanVarianceNormalization", 13, {kImage}, {}},
        FloatCase{"LpNormalization", 22, {kImage}, {}},
        FloatCase{"LRN", 13, {kImage}, {{"size", int64_t{3}}}},
        FloatCase{"Dropout",
                  22,
                  {kImage, floats({}, {0.5F}), bools({}, {1})},
                  {{"seed", int64_t{3}}},
                  2}));

const Attributes kWindow = {{"kernel_shape", Shape{3, 2}}, {"strides", Shape{2, 1}}};

INSTANTIATE_TEST_SUITE_P(
    Windows, FloatTypes,
    ::testing::Values(
        FloatCase{"MaxPool", 12, {kImage}, kWindow, 2}, FloatCase{"MaxPool", 22, {kImage}, kWindow},
        FloatCase{"AveragePool", 11, {kImage}, kWindow}, FloatCase{"LpPool", 11, {kImage}, kWindow},
        FloatCase{"GlobalMaxPool", 1, {kImage}, {}},
        FloatCase{"GlobalAveragePool", 22, {kImage}, {}},
        FloatCase{"GlobalLpPool", 2, {kImage}, {}},
        FloatCase{
            "Conv", 22, {kImage, random_floats({3, 4, 3, 2}, 6), random_floats({3}, 7)}, {}}));

INSTANTIATE_TEST_SUITE_P(
    TransposedWindows, FloatTypes,
    ::testing::Values(
        FloatCase{"ConvTranspose",
                  22,
                  {kImage, random_floats({4, 3, 3, 2}, 6), random_floats({3}, 7)},
                  {}},
        FloatCase{"Col2Im", 18, {random_floats({1, 8, 6}, 6), ints({3, 4}), ints({2, 2})}, {}},
        FloatCase{"MaxUnpool",
                  22,
                  {floats({1, 1, 2}, {3, 4}), tensor<int64_t>({1, 1, 2}, {2, 0})},
                  {{"kernel_shape", Shape{2}}}},
        FloatCase{"DeformConv",
                  22,
                  {kImage, random_floats({3, 4, 2, 2}, 6), random_floats({2, 8, 5, 6}, 7)},
                  {}}));

INSTANTIATE_TEST_SUITE_P(
    Sampling, FloatTypes,
    ::testing::Values(
        FloatCase{
            "Resize",
            13,
            {kImage, floats({8}, std::vector<float>(8, 0)), floats({0}, {}), ints({2, 4, 9, 5})},
            {{"mode", std::string("cubic")}}},
        FloatCase{"GridSample", 22, {kImage, random_floats({2, 3, 3, 2}, 2)}, {}},
        FloatCase{"AffineGrid", 20, {random_floats({1, 2, 3}, 2), ints({1, 1, 3, 4})}, {}},
        FloatCase{"RoiAlign", 22, {kImage, floats({1, 4}, {1, 1, 4, 5}), ints({1})}, {}},
        FloatCase{"MaxRoiPool",
                  22,
                  {kImage, floats({1, 5}, {1, 1, 1, 4, 5})},
                  {{"pooled_shape", Shape{2, 2}}}}));

const Tensor kHeads = random_floats({2, 3, 4, 8}, 1);

INSTANTIATE_TEST_SUITE_P(
    Attention, FloatTypes,
    ::testing::Values(FloatCase{"Attention", 24, {kHeads, kHeads, kHeads}, {}, 4},
                      FloatCase{"RotaryEmbedding",
                                23,
                                {kHeads, random_floats({9, 4}, 2), random_floats({9, 4}, 3),
                                 tensor<int64_t>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})},
                                {}},
                      FloatCase{
                          "TensorScatter", 24, {kHeads, random_floats({2, 3, 1, 8}, 2)}, {}}));

const Tensor kSteps = random_floats({3, 2, 4}, 1);
const Tensor kState = random_floats({1, 2, 5}, 4);

INSTANTIATE_TEST_SUITE_P(
    Recurrent, FloatTypes,
    ::testing::Values(
        FloatCase{
            "RNN", 22, {kSteps, random_floats({1, 5, 4}, 2), random_floats({1, 5, 5}, 3)}, {}, 2},
        FloatCase{"GRU",
                  22,
                  {kSteps, random_floats({1, 15, 4}, 2), random_floats({1, 15, 5}, 3),
                   random_floats({1, 30}, 5), tensor<int32_t>({2}, {3, 2}), kState},
                  {},
                  2},
        FloatCase{"LSTM",
                  22,
                  {kSteps, random_floats({1, 20, 4}, 2), random_floats({1, 20, 5}, 3)},
                  {},
                  3}));

}  // namespace
}  // namespace ephost::test::float_types_test
