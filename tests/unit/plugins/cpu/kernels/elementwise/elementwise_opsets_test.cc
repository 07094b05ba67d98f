// Element-wise operators and reductions of opsets and types that onnx's own test data does not
// cover.
#include <cmath>
#include <limits>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::elementwise_opsets_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor list(const std::vector<T>& values) {
  return tensor<T>({static_cast<int64_t>(values.size())}, values);
}

TEST(Bitwise, OperatorsBroadcastOverEveryWidth) {
  EXPECT_THAT(run_node("BitwiseAnd", 18, {list<int8_t>({-1, 6, 0x55}), list<int8_t>({0x0f})}),
              Gives(std::vector{list<int8_t>({0x0f, 6, 5})}));
  EXPECT_THAT(run_node("BitwiseOr", 18, {list<uint16_t>({1, 2}), list<uint16_t>({4, 2})}),
              Gives(std::vector{list<uint16_t>({5, 2})}));
  EXPECT_THAT(run_node("BitwiseXor", 21, {list<int64_t>({-1, 5}), list<int64_t>({5, 5})}),
              Gives(std::vector{list<int64_t>({-6, 0})}));
  EXPECT_THAT(run_node("BitwiseNot", 18, {list<uint32_t>({0, 0xffffffff})}),
              Gives(std::vector{list<uint32_t>({0xffffffff, 0})}));
}

TEST(Bitwise, ShiftsByTheWidthLeaveNothing) {
  EXPECT_THAT(run_node("BitShift", 11, {list<uint8_t>({255, 255, 255}), list<uint8_t>({4, 8, 200})},
                       {{"direction", std::string("LEFT")}}),
              Gives(std::vector{list<uint8_t>({240, 0, 0})}));
  EXPECT_THAT(run_node("BitShift", 11, {list<uint64_t>({~0ULL, ~0ULL}), list<uint64_t>({63, 64})},
                       {{"direction", std::string("RIGHT")}}),
              Gives(std::vector{list<uint64_t>({1, 0})}));
  EXPECT_THAT(run_node("BitShift", 11, {list<uint8_t>({1}), list<uint8_t>({1})},
                       {{"direction", std::string("UP")}}),
              Refuses(EPH_INVALID_ARGUMENT, "direction 'UP' is neither LEFT nor RIGHT"));
}

struct Gate {
  const char* name;
  const char* op_type;
  int32_t version;
  Attributes attributes;
  double (*expected)(double);
};
void PrintTo(const Gate& gate, std::ostream* stream) { *stream << gate.name; }

class Gates : public ::testing::TestWithParam<Gate> {};

TEST_P(Gates, AgreeWithTheirFormula) {
  const Tensor x = random_floats({1003}, 3, -30, 30);
  std::vector<double> expected = as_doubles(x);
  for (double& value : expected) value = GetParam().expected(value);
  const auto run = [&](const Tensor& input) {
    return run_one(GetParam().op_type, GetParam().version, {input}, GetParam().attributes);
  };
  EXPECT_EQ(difference(run(x), from_doubles(x.shape, expected), 1e-5, 2e-6), "");
  EXPECT_EQ(difference(run(to_double_tensor(x)), tensor<double>(x.shape, expected), 1e-12, 1e-13),
            "");
}

INSTANTIATE_TEST_SUITE_P(
    Functions, Gates,
    ::testing::Values(Gate{"Gelu",
                           "Gelu",
                           20,
                           {},
                           [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2))); }},
                      Gate{"GeluTanh",
                           "Gelu",
                           20,
                           {{"approximate", std::string("tanh")}},
                           [](double x) {
                             return 0.5 * x *
                                    (1 +
                                     std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
                           }},
                      Gate{"Mish",
                           "Mish",
                           18,
                           {},
                           [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
                      Gate{"Swish",
                           "Swish",
                           24,
                           {{"alpha", 0.5F}},
                           [](double x) { return x / (1 + std::exp(-x / 2)); }}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Shrinking, KeepsIntegersExactAndInRange) {
  const Attributes bias = {{"lambd", 1.5F}, {"bias", 1.5F}};
  EXPECT_THAT(run_node("Shrink", 9, {list<int32_t>({-3, -1, 0, 1, 3})}, bias),
              Gives(std::vector{list<int32_t>({-1, 0, 0, 0, 1})}));
  EXPECT_THAT(run_node("Shrink", 9, {list<uint8_t>({0, 1, 3, 255})}, {{"bias", -9.0F}}),
              Gives(std::vector{list<uint8_t>({0, 10, 12, 255})}));
  constexpr int64_t kLarge = (int64_t{1} << 62) + 1;
  EXPECT_THAT(run_node("Shrink", 9, {list<int64_t>({kLarge, 0})}),
              Gives(std::vector{list<int64_t>({kLarge, 0})}));
}

TEST(Predicates, OfVersion20TakeShortFloats) {
  // Two NaN, an infinity and a number of float8e5m2.
  const Tensor x = {EPH_ELEMENT_FLOAT8E5M2, {4}, {'\x7f', '\xff', '\x7c', '\x3c'}, {}};
  EXPECT_THAT(run_node("IsNaN", 20, {x}), Gives(std::vector{bools({4}, {1, 1, 0, 0})}));
  EXPECT_THAT(run_node("IsInf", 20, {x}), Gives(std::vector{bools({4}, {0, 0, 1, 0})}));
  EXPECT_THAT(
      run_node("IsInf", 20, {floats({3}, {kInf, -kInf, kNan})}, {{"detect_positive", int64_t{0}}}),
      Gives(std::vector{bools({3}, {0, 1, 0})}));
}

TEST(Comparing, StringsForEquality) {
  EXPECT_THAT(run_node("Equal", 19, {strings({3}, {"a", "", "bc"}), strings({1}, {"bc"})}),
              Gives(std::vector{bools({3}, {0, 0, 1})}));
}

TEST(Reductions, TakeTheirAxesAsAnInputFromVersion18) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(run_node("ReduceMean", 18, {x, ints({0})}),
              Gives(std::vector{floats({1, 3}, {2.5F, 3.5F, 4.5F})}));
  EXPECT_THAT(run_node("ReduceL1", 21, {x, ints({-1})}, {{"keepdims", int64_t{0}}}),
              Gives(std::vector{floats({2}, {6, 15})}));
  EXPECT_THAT(run_node("ReduceMax", 18, {x}), Gives(std::vector{floats({1, 1}, {6})}));
}

TEST(Reductions, OverNoAxesKeepEachElement) {
  const Tensor x = floats({2}, {-2, 3});
  const Attributes noop = {{"noop_with_empty_axes", int64_t{1}}};
  EXPECT_THAT(run_node("ReduceSum", 13, {x, ints({})}, noop), Gives(std::vector{x}));
  EXPECT_THAT(run_node("ReduceSumSquare", 18, {x}, noop), Gives(std::vector{floats({2}, {4, 9})}));
  EXPECT_THAT(run_node("ReduceSum", 13, {x, ints({})}), Gives(std::vector{floats({1}, {1})}));
}

TEST(Reductions, OfBoolsAreAnyAndAll) {
  const Tensor x = bools({2, 2}, {0, 1, 1, 7});
  EXPECT_THAT(run_node("ReduceMax", 20, {x, ints({0})}), Gives(std::vector{bools({1, 2}, {1, 1})}));
  EXPECT_THAT(run_node("ReduceMin", 20, {x, ints({0})}), Gives(std::vector{bools({1, 2}, {0, 1})}));
  EXPECT_THAT(run_node("ReduceMin", 20, {bools({0}, {})}), Gives(std::vector{bools({1}, {1})}));
}

TEST(CumulativeSums, GoAlongAnyAxisInEveryWay) {
  const Tensor x = floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto sums = [&](int64_t axis, int64_t exclusive, int64_t reverse) {
    return values_of<float>(run_one("CumSum", 14, {x, tensor<int64_t>({}, {axis})},
                                    {{"exclusive", exclusive}, {"reverse", reverse}}));
  };
  using List = std::vector<float>;
  EXPECT_EQ(sums(0, 0, 0), (List{1, 2, 3, 4, 6, 8, 10, 12}));
  EXPECT_EQ(sums(0, 1, 0), (List{0, 0, 0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(sums(1, 0, 1), (List{4, 6, 3, 4, 12, 14, 7, 8}));
  EXPECT_EQ(sums(1, 1, 1), (List{3, 4, 0, 0, 7, 8, 0, 0}));
  EXPECT_EQ(sums(2, 1, 0), (List{0, 1, 0, 3, 0, 5, 0, 7}));
}

TEST(Powers, OfAHalfAreRoots) {
  const Tensor x = floats({5}, {4, 0, -0.0F, kInf, -1});
  EXPECT_THAT(run_node("Pow", 15, {x, floats({}, {0.5F})}),
              Gives(std::vector{floats({5}, {2, 0, 0, kInf, kNan})}));
  EXPECT_THAT(run_node("Pow", 15, {floats({1}, {-kInf}), floats({}, {0.5F})}),
              Gives(std::vector{floats({1}, {kInf})}));
}

TEST(AxisNormalization, LeavesALineOfZerosAlone) {
  const Tensor x = floats({2, 2}, {3, 0, 4, 0});
  EXPECT_THAT(run_node("LpNormalization", 1, {x}, {{"axis", int64_t{0}}}),
              Gives(std::vector{floats({2, 2}, {0.6F, 0, 0.8F, 0})}));
  EXPECT_THAT(run_node("LpNormalization", 22, {x}, {{"p", int64_t{1}}}),
              Gives(std::vector{floats({2, 2}, {1, 0, 1, 0})}));
  EXPECT_THAT(run_node("LpNormalization", 1, {x}, {{"p", int64_t{3}}}),
              Refuses(EPH_INVALID_ARGUMENT, "p=3 is neither 1 nor 2"));
}

TEST(AxisNormalization, CentresAnyAxes) {
  const Tensor x = floats({2, 3}, {1, 2, 9, 3, 2, 9});
  EXPECT_EQ(
      difference(run_one("MeanVarianceNormalization", 13, {x}, {{"axes", std::vector<int64_t>{0}}}),
                 floats({2, 3}, {-1, 0, 0, 1, 0, 0})),
      "");
}

TEST(Determinants, OfSingularAndEmptyMatrices) {
  EXPECT_THAT(run_node("Det", 11, {floats({2, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4})}),
              Gives(std::vector{floats({2}, {-6, 0})}));
  EXPECT_THAT(run_node("Det", 11, {floats({0, 0}, {})}), Gives(std::vector{floats({}, {1})}));
  EXPECT_THAT(run_node("Det", 11, {floats({2, 3}, {1, 2, 3, 4, 5, 6})}),
              Refuses(EPH_INVALID_ARGUMENT, "[2,3] does not end with a square matrix"));
}

TEST(Losses, RefuseClassesOutOfRange) {
  const Tensor scores = floats({2, 2}, {0, 0, 0, 0});
  EXPECT_THAT(run_node("NegativeLogLikelihoodLoss", 13, {scores, ints({0, 2})}),
              Refuses(EPH_INVALID_ARGUMENT, "class 2 is outside of [0, 2)"));
  EXPECT_THAT(run_node("SoftmaxCrossEntropyLoss", 13, {scores, ints({0, -1})}),
              Refuses(EPH_INVALID_ARGUMENT, "class -1 is outside of [0, 2)"));
  EXPECT_THAT(run_node("SoftmaxCrossEntropyLoss", 13, {scores, ints({0, -1})},
                       {{"ignore_index", int64_t{-1}}}),
              Gives(std::vector{floats({}, {std::log(2.0F)})}));
  EXPECT_THAT(run_node("SoftmaxCrossEntropyLoss", 13, {scores, ints({0})}),
              Refuses(EPH_INVALID_ARGUMENT, "[1] do not match scores of shape [2,2]"));
  EXPECT_THAT(run_node("NegativeLogLikelihoodLoss", 13, {scores, ints({0, 1})},
                       {{"reduction", std::string("max")}}),
              Refuses(EPH_INVALID_ARGUMENT, "reduction 'max' is not none, sum or mean"));
}

}  // namespace
}  // namespace ephost::test::elementwise_opsets_test
