// Operators on float16, bfloat16 and double agree with themselves on float.
#include "tests/unit/plugins_cpu/cpu_test.h"

namespace ephost::test {
namespace {

struct FloatCase {
  std::string op_type;
  int32_t version;
  std::vector<Tensor> inputs;
  Attributes attributes;
  std::size_t outputs = 1;
};

void PrintTo(const FloatCase& test, std::ostream* out) { *out << test.op_type; }

// Tensors of other types than float stay as they are.
Tensor cast(const Tensor& from, int32_t type) {
  const bool is_float = from.type == EPH_FLOAT || from.type == EPH_DOUBLE ||
                        from.type == EPH_FLOAT16 || from.type == EPH_BFLOAT16;
  return is_float ? run_one("Cast", 13, {from}, {{"to", int64_t{type}}}) : from;
}

class FloatTypes : public testing::TestWithParam<FloatCase> {};

TEST_P(FloatTypes, AgreeWithFloat) {
  const FloatCase& test = GetParam();
  for (const int32_t type : {EPH_DOUBLE, EPH_FLOAT16, EPH_BFLOAT16}) {
    std::vector<Tensor> typed;
    std::vector<Tensor> rounded;  // the same numbers
    for (const Tensor& input : test.inputs) {
      typed.push_back(cast(input, type));
      rounded.push_back(cast(typed.back(), EPH_FLOAT));
    }
    const Outcome expected =
        run_node(test.op_type, test.version, rounded, test.attributes, test.outputs);
    const Outcome actual =
        run_node(test.op_type, test.version, typed, test.attributes, test.outputs);
    ASSERT_TRUE(expected.ok()) << expected.message;
    ASSERT_TRUE(actual.ok()) << actual.message;
    const double precision = type == EPH_BFLOAT16 ? 8e-3 : 1e-3;
    for (std::size_t i = 0; i < test.outputs; ++i) {
      EXPECT_EQ(
          difference(cast(actual.outputs[i], EPH_FLOAT), expected.outputs[i], precision, precision),
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
    testing::Values(
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
    testing::Values(
        FloatCase{"MaxPool", 12, {kImage}, kWindow, 2}, FloatCase{"MaxPool", 22, {kImage}, kWindow},
        FloatCase{"AveragePool", 11, {kImage}, kWindow}, FloatCase{"LpPool", 11, {kImage}, kWindow},
        FloatCase{"GlobalMaxPool", 1, {kImage}, {}},
        FloatCase{"GlobalAveragePool", 22, {kImage}, {}},
        FloatCase{"GlobalLpPool", 2, {kImage}, {}},
        FloatCase{
            "Conv", 22, {kImage, random_floats({3, 4, 3, 2}, 6), random_floats({3}, 7)}, {}}));

}  // namespace
}  // namespace ephost::test
