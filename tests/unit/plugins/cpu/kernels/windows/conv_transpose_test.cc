// ConvTranspose and Col2Im against loops that follow one product at a time.
#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::conv_transpose_test {
namespace {

struct TransposeCase {
  Shape x, weights;
  int64_t groups = 1;
  Shape strides, dilations, pads;  // resolved
  Shape output;                    // spatial
  Attributes attributes = {};      // strides, dilations and pads are added unless hidden
  bool hides_pads = false;
};

void PrintTo(const TransposeCase& test, std::ostream* out) {
  *out << ::testing::PrintToString(test.x) << " * " << ::testing::PrintToString(test.weights);
}

Shape unravel(int64_t index, const Shape& shape) {
  Shape at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) at[d] = index % shape[d];
  return at;
}

// The offset in the output's plane of element `tap` of the window at `at`; -1 outside.
int64_t place(const TransposeCase& test, const Shape& at, const Shape& tap) {
  int64_t offset = 0;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const int64_t index = at[d] * test.strides[d] + tap[d] * test.dilations[d] - test.pads[d];
    if (index < 0 || index >= test.output[d]) return -1;
    offset = offset * test.output[d] + index;
  }
  return offset;
}

Tensor transpose(const TransposeCase& test, const Tensor& x, const Tensor& w, const Tensor& bias) {
  const std::vector<double> from = as_doubles(x);
  const std::vector<double> weights = as_doubles(w);
  const Shape in(test.x.begin() + 2, test.x.end());
  const Shape kernel(test.weights.begin() + 2, test.weights.end());
  const int64_t out_group = test.weights[1];
  const int64_t outputs = out_group * test.groups;
  const int64_t plane = count_of(test.output);
  Shape shape = {test.x[0], outputs};
  shape.insert(shape.end(), test.output.begin(), test.output.end());
  std::vector<double> y;
  for (int64_t i = 0; i < count_of(shape); ++i) {
    y.push_back(as_doubles(bias)[static_cast<std::size_t>(i / plane % outputs)]);
  }
  for (int64_t i = 0; i < count_of(test.x); ++i) {
    const int64_t c = i / count_of(in) % test.x[1];
    const int64_t image = i / count_of(in) / test.x[1];
    const int64_t group = c / (test.x[1] / test.groups);
    for (int64_t k = 0; k < out_group * count_of(kernel); ++k) {
      const int64_t offset =
          place(test, unravel(i % count_of(in), in), unravel(k % count_of(kernel), kernel));
      if (offset < 0) continue;
      const int64_t m = image * outputs + group * out_group + k / count_of(kernel);
      y[static_cast<std::size_t>(m * plane + offset)] +=
          from[static_cast<std::size_t>(i)] *
          weights[static_cast<std::size_t>(c * out_group * count_of(kernel) + k)];
    }
  }
  return from_doubles(shape, y);
}

class ConvTranspose : public ::testing::TestWithParam<TransposeCase> {};

TEST_P(ConvTranspose, AgreesWithTheReference) {
  const TransposeCase& test = GetParam();
  const Tensor x = random_floats(test.x, 1);
  const Tensor weights = random_floats(test.weights, 2);
  const Tensor bias = random_floats({test.weights[1] * test.groups}, 3);
  const Tensor expected = transpose(test, x, weights, bias);
  Attributes attributes = test.attributes;
  attributes.emplace_back("group", test.groups);
  attributes.emplace_back("strides", test.strides);
  attributes.emplace_back("dilations", test.dilations);
  if (!test.hides_pads) attributes.emplace_back("pads", test.pads);
  for (const Stated stated : {Stated::kNothing, Stated::kTypesAndShapes}) {
    const auto node = make_node("ConvTranspose", 11, {x, weights, bias}, attributes);
    node->state(stated);
    const Outcome outcome = cpu_session().run(*node);
    ASSERT_THAT(outcome, IsOk());
    EXPECT_EQ(difference(outcome.outputs[0], expected, 1e-4, 1e-5), "");
  }
  EXPECT_EQ(
      difference(run_one("ConvTranspose", 1,
                         {to_double_tensor(x), to_double_tensor(weights), to_double_tensor(bias)},
                         attributes),
                 to_double_tensor(expected), 1e-5, 1e-6),
      "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvTranspose,
    ::testing::Values(
        TransposeCase{{2, 8, 5, 6}, {8, 3, 3, 3}, 1, {2, 2}, {1, 1}, {1, 1, 1, 1}, {9, 11}},
        TransposeCase{{1, 2, 5, 6}, {2, 3, 3, 2}, 1, {1, 3}, {2, 1}, {0, 1, 2, 0}, {7, 16}},
        TransposeCase{{2, 8, 4}, {8, 2, 3}, 2, {3}, {2}, {1, 1}, {12}},
        TransposeCase{{1, 3, 7, 7}, {3, 1, 2, 2}, 3, {2, 2}, {1, 1}, {0, 0, 0, 0}, {14, 14}},
        TransposeCase{{1, 4, 3, 4, 5},
                      {4, 2, 2, 3, 2},
                      1,
                      {1, 2, 1},
                      {1, 1, 2},
                      {0, 1, 0, 0, 0, 1},
                      {4, 8, 6}},
        TransposeCase{{1, 5, 2, 3, 2, 3},
                      {5, 2, 2, 2, 2, 2},
                      1,
                      {1, 1, 2, 1},
                      {1, 1, 1, 1},
                      Shape(8, 0),
                      {3, 4, 4, 4}},
        // Sizes that the attributes imply.
        TransposeCase{{1, 4, 4, 4},
                      {4, 2, 3, 3},
                      1,
                      {2, 2},
                      {1, 1},
                      {1, 0, 1, 0},
                      {8, 10},
                      {{"output_padding", Shape{1, 1}}}},
        TransposeCase{{1, 4, 4, 4},
                      {4, 2, 3, 3},
                      1,
                      {3, 2},
                      {1, 1},
                      {1, 0, 1, 0},
                      {10, 12},
                      {{"output_shape", Shape{10, 12}}},
                      true},
        TransposeCase{{1, 4, 4, 4},
                      {4, 2, 4, 3},
                      1,
                      {1, 2},
                      {1, 1},
                      {1, 0, 2, 1},
                      {4, 8},
                      {{"auto_pad", std::string("SAME_UPPER")}},
                      true},
        TransposeCase{{1, 4, 4, 4},
                      {4, 2, 4, 3},
                      1,
                      {1, 2},
                      {1, 1},
                      {2, 1, 1, 0},
                      {4, 8},
                      {{"auto_pad", std::string("SAME_LOWER")}},
                      true}));

TEST(ConvTransposeKernel, GivesTheBiasWhereThereAreNoChannels) {
  EXPECT_THAT(run_node("ConvTranspose", 11,
                       {floats({1, 0, 1, 2}, {}), floats({0, 1, 1, 1}, {}), floats({1}, {3})}),
              Gives(std::vector<Tensor>{floats({1, 1, 1, 2}, {3, 3})}));
}

TEST(Col2Im, AddsTheColumnsWhereTheyComeFrom) {
  const TransposeCase test = {{2, 3 * 4, 6}, {}, 1, {1, 2}, {2, 1}, {1, 0}, {3, 4}};
  const Shape block = {2, 2};
  const Shape grid = {3, 2};
  const Tensor x = random_floats(test.x, 1);
  std::vector<double> y(2 * 3 * 12, 0);
  for (int64_t i = 0; i < count_of(test.x); ++i) {
    const int64_t offset = place(test, unravel(i % 6, grid), unravel(i / 6 % 4, block));
    if (offset >= 0) {
      y[static_cast<std::size_t>(i / 24 * 12 + offset)] +=
          as_doubles(x)[static_cast<std::size_t>(i)];
    }
  }
  const Attributes attributes = {
      {"strides", Shape{1, 2}}, {"dilations", Shape{2, 1}}, {"pads", Shape{1, 0, 1, 0}}};
  EXPECT_EQ(difference(run_one("Col2Im", 18, {x, ints({3, 4}), ints({2, 2})}, attributes),
                       from_doubles({2, 3, 3, 4}, y), 1e-5, 1e-6),
            "");
}

TEST(Col2Im, TakesIntegersThatWrapAround) {
  EXPECT_THAT(run_node("Col2Im", 18,
                       {tensor<int8_t>({1, 2, 2}, {1, 100, 100, 4}), ints({1, 3}), ints({1, 2})}),
              Gives(std::vector<Tensor>{tensor<int8_t>({1, 1, 1, 3}, {1, -56, 4})}));
}

}  // namespace
}  // namespace ephost::test::conv_transpose_test
