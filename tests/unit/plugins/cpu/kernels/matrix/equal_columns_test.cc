// Equal columns of weights give equal numbers, bit for bit, wherever the column lies: a softmax
// behind the product would otherwise make 0 and 1 of what should be equal. CTest runs these tests
// for several instruction sets.
#include <algorithm>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::equal_columns_test {
namespace {

// `rows` times the same `row`.
Tensor repeat(const Shape& shape, const Tensor& row, int64_t rows) {
  Tensor all = row;
  all.shape = shape;
  all.bytes.clear();
  for (int64_t i = 0; i < rows; ++i) {
    all.bytes.insert(all.bytes.end(), row.bytes.begin(), row.bytes.end());
  }
  return all;
}

// Each number of `column` n times in turn: a matrix of n equal columns.
Tensor widen(const Shape& shape, const Tensor& column, int64_t n) {
  std::vector<float> all;
  for (const float value : values_of<float>(column)) all.insert(all.end(), n, value);
  return floats(shape, all);
}

// Numbers of about 10^10 whose sum needs more digits than float has.
Tensor large_numbers(const Shape& shape, uint32_t seed = 1) {
  return random_floats(shape, seed, -1e10F, 3e10F);
}

// The node's result once with all inputs variable, once with a constant of weights.
std::vector<Tensor> results(const std::string& op_type, const std::vector<Tensor>& inputs,
                            const Attributes& attributes) {
  SingleNodeGraph with_constant(op_type, 13);
  with_constant.input(inputs[0]).constant(inputs[1]).output();
  for (const auto& [name, value] : attributes) with_constant.attribute(name, value);
  Outcome outcome = cpu_session().run(with_constant);
  EXPECT_THAT(outcome, IsOk());
  return {run_one(op_type, 13, inputs, attributes), outcome.ok() ? outcome.outputs[0] : Tensor()};
}

struct ProductCase {
  int64_t m, k, n;
};

void PrintTo(const ProductCase& test, std::ostream* out) {
  *out << test.m << " x " << test.k << " by " << test.k << " x " << test.n;
}

class EqualColumns : public ::testing::TestWithParam<ProductCase> {};

TEST_P(EqualColumns, GiveEqualColumnsOfAProduct) {
  const auto [m, k, n] = GetParam();
  const Tensor a = repeat({m, k}, large_numbers({1, k}), m);
  const Tensor column = random_floats({k, 1}, 2);
  for (const bool transposes : {false, true}) {
    const Tensor b = transposes ? repeat({n, k}, column, n) : widen({k, n}, column, n);
    for (const Tensor& y : results("Gemm", {a, b}, {{"transB", int64_t{transposes}}})) {
      const std::vector<float> values = values_of<float>(y);
      ASSERT_EQ(values.size(), static_cast<std::size_t>(m * n));
      EXPECT_EQ(std::count(values.begin(), values.end(), values[0]), m * n) << transposes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ClassifiersOfLightModels, EqualColumns,
                         ::testing::Values(ProductCase{1, 9216, 512}, ProductCase{1, 2048, 1000},
                                           ProductCase{2, 1024, 1000}, ProductCase{1, 544, 1000}));
INSTANTIATE_TEST_SUITE_P(OddShapes, EqualColumns,
                         ::testing::Values(ProductCase{8, 480, 24}, ProductCase{96, 4, 167},
                                           ProductCase{11, 300, 61}, ProductCase{25, 33, 1},
                                           ProductCase{167, 512, 1000}, ProductCase{13, 1100, 17}));

struct ConvolutionCase {
  int64_t inputs, outputs, groups, extent, kernel;
};

void PrintTo(const ConvolutionCase& test, std::ostream* out) {
  *out << test.inputs << " to " << test.outputs << " channels in " << test.groups << " groups of "
       << test.extent << "^2, kernel " << test.kernel;
}

class EqualChannels : public ::testing::TestWithParam<ConvolutionCase> {};

TEST_P(EqualChannels, GiveEqualPlanesOfAConvolution) {
  const auto [inputs, outputs, groups, extent, kernel] = GetParam();
  const int64_t channels = inputs / groups;
  const Tensor group = large_numbers({1, channels * extent * extent});
  const Tensor x = repeat({1, inputs, extent, extent}, group, groups);
  const Tensor weights = repeat({outputs, channels, kernel, kernel},
                                random_floats({1, channels * kernel * kernel}, 2), outputs);
  for (const Tensor& y : results("Conv", {x, weights}, {{"group", groups}})) {
    const std::vector<float> values = values_of<float>(y);
    const auto plane = static_cast<int64_t>(values.size()) / outputs;
    for (int64_t i = 1; i < outputs; ++i) {
      ASSERT_TRUE(std::equal(values.begin(), values.begin() + plane, values.begin() + i * plane))
          << "plane " << i;
    }
  }
}

// Equal pixels give equal numbers as well.
TEST_P(EqualChannels, GiveEqualPixelsOfAConvolution) {
  const auto [inputs, outputs, groups, extent, kernel] = GetParam();
  const int64_t channels = inputs / groups;
  const Tensor x = widen({1, inputs, extent, extent}, large_numbers({inputs}), extent * extent);
  const Tensor weights = random_floats({outputs, channels, kernel, kernel}, 2);
  for (const Tensor& y : results("Conv", {x, weights}, {{"group", groups}})) {
    const std::vector<float> values = values_of<float>(y);
    const auto plane = static_cast<int64_t>(values.size()) / outputs;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], values[i - i % static_cast<std::size_t>(plane)]) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    LightModels, EqualChannels,
    ::testing::Values(ConvolutionCase{512, 1000, 1, 13, 1},  // SqueezeNet
                      ConvolutionCase{64, 16, 1, 55, 1}, ConvolutionCase{48, 192, 1, 27, 1},
                      ConvolutionCase{1024, 1000, 1, 1, 1},  // DenseNet
                      ConvolutionCase{64, 128, 1, 28, 1}, ConvolutionCase{128, 32, 1, 14, 3},
                      ConvolutionCase{480, 96, 1, 14, 1},  // Inception
                      ConvolutionCase{832, 384, 1, 7, 1}, ConvolutionCase{48, 128, 1, 14, 5},
                      ConvolutionCase{136, 136, 4, 14, 1},  // ShuffleNet
                      ConvolutionCase{272, 68, 4, 14, 1}, ConvolutionCase{136, 136, 136, 15, 3},
                      ConvolutionCase{96, 256, 2, 13, 5},  // AlexNet
                      ConvolutionCase{3, 64, 1, 25, 7}));
INSTANTIATE_TEST_SUITE_P(OddShapes, EqualChannels,
                         ::testing::Values(ConvolutionCase{13, 25, 1, 17, 1},
                                           ConvolutionCase{20, 28, 4, 20, 3},
                                           ConvolutionCase{102, 510, 3, 9, 1},
                                           ConvolutionCase{7, 21, 7, 12, 3}));

}  // namespace
}  // namespace ephost::test::equal_columns_test
