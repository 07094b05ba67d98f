// Unary, binary and variadic operators: loops of every length, broadcasting, integers at their
// limits, special floating-point values. Expected values come from <cmath> in double.
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::elementwise_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct UnaryCase {
  const char* op_type;
  int32_t version;
  double (*expected)(double);
  float low, high;
};

void PrintTo(const UnaryCase& test, std::ostream* out) { *out << test.op_type; }

class Unary : public ::testing::TestWithParam<UnaryCase> {};

// 100003 elements: vector loops, their remainders, and several threads.
TEST_P(Unary, AgreesWithTheStandardLibraryOverItsRange) {
  const UnaryCase& test = GetParam();
  const Tensor x = random_floats({100003}, 7, test.low, test.high);
  std::vector<double> expected = as_doubles(x);
  for (double& value : expected) value = test.expected(value);
  const Tensor y = run_one(test.op_type, test.version, {x});
  EXPECT_EQ(difference(y, from_doubles(x.shape, expected), 2e-6, 3e-7), "");

  const Tensor wide = run_one(test.op_type, test.version, {to_double_tensor(x)});
  EXPECT_EQ(difference(wide, tensor<double>(x.shape, expected), 1e-12, 1e-14), "");
}

INSTANTIATE_TEST_SUITE_P(
    Functions, Unary,
    ::testing::Values(
        UnaryCase{"Exp", 13, [](double x) { return std::exp(x); }, -87, 88},
        UnaryCase{"Tanh", 13, [](double x) { return std::tanh(x); }, -10, 10},
        UnaryCase{"Sigmoid", 13, [](double x) { return 1 / (1 + std::exp(-x)); }, -20, 20},
        UnaryCase{"Erf", 13, [](double x) { return std::erf(x); }, -5, 5},
        UnaryCase{"Log", 13, [](double x) { return std::log(x); }, 1e-6F, 100},
        UnaryCase{"Sin", 7, [](double x) { return std::sin(x); }, -2900, 2900},
        UnaryCase{"Cos", 7, [](double x) { return std::cos(x); }, -2900, 2900},
        UnaryCase{"Sqrt", 13, [](double x) { return std::sqrt(x); }, 0, 100},
        UnaryCase{"Floor", 13, [](double x) { return std::floor(x); }, -9, 9},
        UnaryCase{"Ceil", 13, [](double x) { return std::ceil(x); }, -9, 9},
        UnaryCase{"Round", 11, [](double x) { return std::nearbyint(x); }, -9, 9},
        UnaryCase{"Reciprocal", 13, [](double x) { return 1 / x; }, 0.1F, 9},
        UnaryCase{"Abs", 13, [](double x) { return std::fabs(x); }, -9, 9},
        UnaryCase{"Relu", 14, [](double x) { return x < 0 ? 0 : x; }, -9, 9},
        UnaryCase{"Softplus", 1, [](double x) { return std::log1p(std::exp(x)); }, -30, 30},
        UnaryCase{"Softsign", 1, [](double x) { return x / (1 + std::fabs(x)); }, -9, 9},
        UnaryCase{"HardSwish", 14,
                  [](double x) { return x * std::fmin(1, std::fmax(0, x / 6 + 0.5)); }, -9, 9}),
    [](const auto& test) { return std::string(test.param.op_type); });

TEST(UnaryOperators, KeepInfinitiesAndNan) {
  const Tensor x = floats({7}, {kInf, -kInf, kNan, 0.0F, -0.0F, -100.0F, 89.0F});
  const auto expect = [&](const char* op_type, int32_t version, const std::vector<float>& values) {
    EXPECT_EQ(difference(run_one(op_type, version, {x}), floats({7}, values), 1e-5, 1e-48), "")
        << op_type;
  };
  expect("Exp", 13, {kInf, 0, kNan, 1, 1, 3.78350585e-44F, kInf});
  expect("Tanh", 13, {1, -1, kNan, 0, 0, -1, 1});
  expect("Erf", 13, {1, -1, kNan, 0, 0, -1, 1});
  expect("Sigmoid", 13, {1, 0, kNan, 0.5F, 0.5F, 0, 1});  // its e^100 is more than a float holds
  expect("Relu", 14, {kInf, 0, kNan, 0, 0, 0, 89});
}

TEST(UnaryOperators, TakeLogarithmsOfEveryKindOfNumber) {
  const Tensor x = floats({7}, {0, -0.0F, -1, kInf, kNan, 1e-45F, 3e38F});
  EXPECT_EQ(difference(run_one("Log", 13, {x}),
                       floats({7}, {-kInf, -kInf, kNan, kInf, kNan, -103.278929F, 88.5967F}), 1e-5),
            "");
}

// Some numbers of a block are beyond the range of the fast sine.
TEST(UnaryOperators, TakeSinesOfLargeNumbers) {
  std::vector<float> values(600, 1);
  values[0] = 1e8F;
  values[299] = kInf;
  values[599] = -1e30F;
  std::vector<double> expected(600, std::sin(1.0));
  for (const std::size_t i : {0U, 299U, 599U})
    expected[i] = std::sin(static_cast<double>(values[i]));
  EXPECT_EQ(difference(run_one("Sin", 7, {floats({600}, values)}), from_doubles({600}, expected)),
            "");
}

TEST(UnaryOperators, WrapTheLowestInteger) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values_of<int64_t>(run_one("Neg", 13, {ints({kLowest, 5})})),
            (std::vector<int64_t>{kLowest, -5}));
  EXPECT_EQ(values_of<int64_t>(run_one("Abs", 13, {ints({kLowest, -5})})),
            (std::vector<int64_t>{kLowest, 5}));
}

TEST(UnaryOperators, TakeEmptyTensors) {
  const Tensor empty = floats({2, 0, 3}, {});
  EXPECT_EQ(difference(run_one("Exp", 13, {empty}), empty), "");
  EXPECT_EQ(difference(run_one("Clip", 13, {empty}), empty), "");
}

TEST(Clip, PrefersTheUpperBoundAndPropagatesNan) {
  const Tensor x = floats({4}, {-3, 0, 3, kNan});
  EXPECT_THAT(run_node("Clip", 13, {x, floats({}, {1}), floats({}, {-1})}),
              Gives(std::vector<Tensor>{floats({4}, {-1, -1, -1, kNan})}));
}

// As ONNX defines it, the bounds that are omitted are those of the type.
TEST(Clip, MakesInfinitiesFiniteWhereABoundIsOmitted) {
  const Tensor x = floats({2}, {-HUGE_VALF, HUGE_VALF});
  const Tensor expected =
      floats({2}, {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()});
  EXPECT_EQ(values_of<float>(run_one("Clip", 13, {x})), values_of<float>(expected));
  EXPECT_EQ(values_of<float>(run_one("Clip", 6, {x})), values_of<float>(expected));
}

TEST(Clip, TakesOneBoundAlone) {
  SingleNodeGraph node("Clip", 12);
  node.input(tensor<int8_t>({3}, {-100, 0, 100})).skip_input();
  node.input(tensor<int8_t>({}, {5})).output();
  EXPECT_THAT(cpu_session().run(node),
              Gives(std::vector<Tensor>{tensor<int8_t>({3}, {-100, 0, 5})}));
}

// ---- Binary operators --------------------------------------------------------------------------

// The reference: finds the operands of every output element by division.
Tensor broadcast_reference(const Tensor& a, const Tensor& b,
                           const std::function<double(double, double)>& op) {
  const std::size_t rank = std::max(a.shape.size(), b.shape.size());
  const auto extent = [&](const Tensor& t, std::size_t d) {
    const std::size_t lead = rank - t.shape.size();
    return d < lead ? 1 : t.shape[d - lead];
  };
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) {
    shape.push_back(extent(a, d) == 1 ? extent(b, d) : extent(a, d));
  }
  const std::vector<double> left = as_doubles(a);
  const std::vector<double> right = as_doubles(b);
  std::vector<double> result;
  for (int64_t i = 0; i < count_of(shape); ++i) {
    std::size_t at[2] = {0, 0};
    int64_t rest = i;
    std::size_t step[2] = {1, 1};
    for (std::size_t d = rank; d-- > 0;) {
      const int64_t index = rest % shape[d];
      rest /= shape[d];
      const Tensor* operands[2] = {&a, &b};
      for (int k = 0; k < 2; ++k) {
        const int64_t own = extent(*operands[k], d);
        if (own != 1) at[k] += step[k] * static_cast<std::size_t>(index);
        step[k] *= static_cast<std::size_t>(own);
      }
    }
    result.push_back(op(left[at[0]], right[at[1]]));
  }
  return from_doubles(shape, result);
}

class Broadcasting : public ::testing::TestWithParam<std::pair<Shape, Shape>> {};

TEST_P(Broadcasting, AgreesWithAnElementwiseWalk) {
  const Tensor a = random_floats(GetParam().first, 3);
  const Tensor b = random_floats(GetParam().second, 4, 0.5F, 2);
  const auto check = [](const Tensor& x, const Tensor& y) {
    EXPECT_EQ(difference(run_one("Sub", 14, {x, y}), broadcast_reference(x, y, std::minus<>())),
              "");
    EXPECT_EQ(
        difference(run_one("Mul", 14, {x, y}), broadcast_reference(x, y, std::multiplies<>())), "");
  };
  check(a, b);
  check(b, a);
  EXPECT_EQ(difference(run_one("Div", 14, {a, b}), broadcast_reference(a, b, std::divides<>())),
            "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Broadcasting,
    ::testing::Values(std::pair<Shape, Shape>{{}, {}}, std::pair<Shape, Shape>{{5}, {}},
                      std::pair<Shape, Shape>{{3, 70001}, {3, 70001}},
                      std::pair<Shape, Shape>{{3, 70001}, {1}},
                      std::pair<Shape, Shape>{{2, 16, 35, 35}, {16, 1, 1}},
                      std::pair<Shape, Shape>{{2, 300, 77}, {2, 300, 1}},
                      std::pair<Shape, Shape>{{2, 300, 77}, {77}},
                      std::pair<Shape, Shape>{{1, 9, 1, 7}, {4, 1, 3, 1}},
                      std::pair<Shape, Shape>{{4, 1, 5}, {1, 6, 1}},
                      std::pair<Shape, Shape>{{3, 0, 5}, {1, 5}},
                      std::pair<Shape, Shape>{{2, 3, 4, 5, 6, 7}, {4, 1, 6, 1}}));

TEST(BinaryOperators, WrapIntegersAround) {
  const Tensor big = tensor<int32_t>({1}, {std::numeric_limits<int32_t>::max()});
  const Tensor low = tensor<int32_t>({1}, {std::numeric_limits<int32_t>::min()});
  const Tensor one = tensor<int32_t>({1}, {1});
  const Tensor minus_one = tensor<int32_t>({1}, {-1});
  EXPECT_EQ(difference(run_one("Add", 14, {big, one}), low), "");
  EXPECT_EQ(difference(run_one("Sub", 14, {low, one}), big), "");
  EXPECT_EQ(difference(run_one("Mul", 14, {big, big}), one), "");
  EXPECT_EQ(difference(run_one("Div", 14, {low, minus_one}), low), "");
  EXPECT_EQ(difference(run_one("Mul", 14,
                               {tensor<uint16_t>({1}, {65535}), tensor<uint16_t>({1}, {65535})}),
                       tensor<uint16_t>({1}, {1})),
            "");
}

TEST(BinaryOperators, TruncateIntegerQuotientsTowardsZero) {
  EXPECT_EQ(values_of<int64_t>(run_one("Div", 14, {ints({7, -7, 7, -7}), ints({2, 2, -2, -2})})),
            (std::vector<int64_t>{3, -3, -3, 3}));
}

TEST(BinaryOperators, RunInPlaceOnlyWithEqualShapes) {
  const auto pairs = [](const Shape& a, const Shape& b, const Shape& y) {
    SingleNodeGraph node("Add", 14);
    node.input(random_floats(a)).input(random_floats(b)).output(random_floats(y));
    Outcome outcome;
    const auto kernel = cpu_session().create(node, &outcome);
    std::vector<uint32_t> inputs;
    for (uint64_t i = 0; i < kernel->info().may_inplace_count; ++i) {
      inputs.push_back(kernel->info().may_inplace[i].input);
    }
    return inputs;
  };
  EXPECT_EQ(pairs({2, 3}, {2, 3}, {2, 3}), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(pairs({2, 3}, {3}, {2, 3}), std::vector<uint32_t>{0});
  EXPECT_EQ(pairs({1, 3}, {2, 1}, {2, 3}), std::vector<uint32_t>{});
}

TEST(Mod, FollowsTheDivisorsSignUnlessItIsFmod) {
  const Tensor a = ints({7, -7, 7, -7, std::numeric_limits<int64_t>::min()});
  const Tensor b = ints({3, 3, -3, -3, -1});
  EXPECT_EQ(values_of<int64_t>(run_one("Mod", 13, {a, b})),
            (std::vector<int64_t>{1, 2, -2, -1, 0}));
  EXPECT_EQ(values_of<int64_t>(run_one("Mod", 13, {a, b}, {{"fmod", int64_t{1}}})),
            (std::vector<int64_t>{1, -1, 1, -1, 0}));
}

TEST(Pow, IsExactForIntegersAndKeepsTheBasesType) {
  EXPECT_EQ(
      values_of<int64_t>(run_one("Pow", 15, {ints({3, -2, 1, -1, 7}), ints({39, 5, -4, -3, 0})})),
      (std::vector<int64_t>{4052555153018976267, -32, 1, -1, 1}));
  EXPECT_EQ(
      values_of<int32_t>(run_one("Pow", 15, {tensor<int32_t>({2}, {4, 9}), floats({}, {0.5F})})),
      (std::vector<int32_t>{2, 3}));
  EXPECT_THAT(run_node("Pow", 15, {floats({3}, {-2, 0.5F, 3}), ints({2})}),
              Gives(std::vector<Tensor>{floats({3}, {4, 0.25F, 9})}));
  EXPECT_THAT(run_node("Pow", 15, {floats({2}, {-2, 3}), tensor<double>({1}, {3})}),
              Gives(std::vector<Tensor>{floats({2}, {-8, 27})}));
}

TEST(Comparisons, TreatNanAsUnordered) {
  const Tensor a = floats({4}, {1, kNan, 2, kNan});
  const Tensor b = floats({4}, {kNan, kNan, 2, 1});
  for (const auto& [op_type, version] : std::vector<std::pair<std::string, int>>{
           {"Equal", 13}, {"GreaterOrEqual", 16}, {"LessOrEqual", 16}}) {
    EXPECT_EQ(difference(run_one(op_type, version, {a, b}), bools({4}, {0, 0, 1, 0})), "")
        << op_type;
  }
  EXPECT_EQ(difference(run_one("Less", 13, {a, b}), bools({4}, {0, 0, 0, 0})), "");
}

TEST(Comparisons, DistinguishUnsignedFromSignedNumbers) {
  const Tensor big = tensor<uint64_t>({1}, {std::numeric_limits<uint64_t>::max()});
  const Tensor one = tensor<uint64_t>({1}, {1});
  EXPECT_EQ(difference(run_one("Greater", 13, {big, one}), bools({1}, {1})), "");
}

TEST(LogicalOperators, TakeAnyByteButZeroAsTrue) {
  const Tensor a = bools({4}, {0, 2, 0, 2});
  const Tensor b = bools({4}, {0, 0, 1, 1});
  EXPECT_EQ(difference(run_one("And", 7, {a, b}), bools({4}, {0, 0, 0, 1})), "");
  EXPECT_EQ(difference(run_one("Or", 7, {a, b}), bools({4}, {0, 1, 1, 1})), "");
  EXPECT_EQ(difference(run_one("Xor", 7, {a, b}), bools({4}, {0, 1, 1, 0})), "");
  EXPECT_EQ(difference(run_one("Equal", 13, {a, b}), bools({4}, {1, 0, 0, 1})), "");
  EXPECT_EQ(difference(run_one("Not", 1, {a}), bools({4}, {1, 0, 1, 0})), "");
}

TEST(VariadicOperators, BroadcastAllInputsAndPropagateNan) {
  const Tensor a = floats({2, 1}, {1, kNan});
  const Tensor b = floats({3}, {0, 2, 1});
  const Tensor c = floats({1, 1, 1}, {1.5F});
  const Shape shape = {1, 2, 3};
  EXPECT_THAT(run_node("Max", 13, {a, b, c}),
              Gives(std::vector<Tensor>{floats(shape, {1.5F, 2, 1.5F, kNan, kNan, kNan})}));
  EXPECT_THAT(run_node("Min", 13, {c, b, a}),
              Gives(std::vector<Tensor>{floats(shape, {0, 1, 1, kNan, kNan, kNan})}));
  EXPECT_THAT(run_node("Mean", 13, {b, c, b}),
              Gives(std::vector<Tensor>{floats({1, 1, 3}, {0.5F, 5.5F / 3, 3.5F / 3})}));
  EXPECT_THAT(run_node("Sum", 13, {b}), Gives(std::vector<Tensor>{b}));
}

TEST(PRelu, BroadcastsTheSlopeToTheInputOnly) {
  const Tensor x = floats({1, 2, 2}, {-1, 2, -3, 4});
  EXPECT_THAT(run_node("PRelu", 16, {x, floats({2, 1}, {0.5F, 2})}),
              Gives(std::vector<Tensor>{floats({1, 2, 2}, {-0.5F, 2, -6, 4})}));
  EXPECT_THAT(run_node("PRelu", 16, {floats({2}, {-1, 1}), floats({2, 2}, {1, 1, 1, 1})}),
              Refuses(EPH_INVALID_ARGUMENT, "cannot be broadcast to the input's"));
}

TEST(Where, BroadcastsAllThreeOperandsAndMovesStrings) {
  EXPECT_THAT(
      run_node("Where", 16, {bools({2, 1}, {1, 0}), strings({2}, {"a", "b"}), strings({}, {"z"})}),
      Gives(std::vector<Tensor>{strings({2, 2}, {"a", "b", "z", "z"})}));
  EXPECT_THAT(run_node("Where", 16, {bools({2}, {2, 0}), ints({1, 2}), ints({3, 4})}),
              Gives(std::vector<Tensor>{ints({1, 4})}));
}

// If types and shapes are stated and small, the kernel's loop is called directly.
Tensor run_stated(const std::string& op_type, const std::vector<Tensor>& inputs,
                  const Tensor& output) {
  SingleNodeGraph graph(op_type, 13);
  for (const Tensor& input : inputs) graph.input(input);
  graph.output(output);
  Outcome outcome = cpu_session().run(graph);
  EXPECT_THAT(outcome, IsOk());
  return outcome.ok() ? outcome.outputs[0] : Tensor();
}

template <class T>
Tensor counted(const Shape& shape) {
  std::vector<T> values(static_cast<std::size_t>(count_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 7 + 1);
  return tensor<T>(shape, values);
}

template <class T>
void expect_the_same_when_stated() {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{1, 16}, {1, 16}}, {{1, 16}, {16}}, {{16}, {1, 16}},      {{4, 4}, {1}},
      {{}, {4, 4}},       {{}, {}},        {{1}, {1}},           {{2, 8}, {8}},
      {{2, 1}, {1, 8}},   {{3, 0}, {1}},   {{100, 100}, {1, 1}}, {{1, 1, 1}, {5}}};
  for (const char* op_type : {"Add", "Sub", "Mul", "Div"}) {
    for (const auto& [a_shape, b_shape] : shapes) {
      const Tensor a = counted<T>(a_shape);
      const Tensor b = counted<T>(b_shape);
      const Tensor expected = run_one(op_type, 13, {a, b});
      const Tensor y = run_stated(op_type, {a, b}, expected);
      EXPECT_EQ(y.shape, expected.shape) << op_type;
      EXPECT_EQ(y.bytes, expected.bytes) << op_type << " of type " << a.type;
    }
  }
}

TEST(FlatKernels, GiveTheSameAsKernelsWithoutStatedShapes) {
  expect_the_same_when_stated<float>();
  expect_the_same_when_stated<double>();
  expect_the_same_when_stated<int8_t>();
  expect_the_same_when_stated<uint16_t>();
  expect_the_same_when_stated<int32_t>();
  expect_the_same_when_stated<int64_t>();
  const Tensor x = random_floats({3, 5}, 1, -2, 2);
  for (const char* op_type : {"Relu", "Tanh", "Neg"}) {
    EXPECT_EQ(run_stated(op_type, {x}, x).bytes, run_one(op_type, 13, {x}).bytes) << op_type;
  }
}

TEST(FlatKernels, AskForMemoryWhereTheHostPreparedNone) {
  SingleNodeGraph graph("Add", 13);
  const Tensor x = floats({2}, {1, 2});
  graph.input(x).input(x).output(x);
  Outcome failure;
  const auto kernel = cpu_session().create(graph, &failure);
  ASSERT_NE(kernel, nullptr) << failure.message;
  EXPECT_EQ(values_of<float>(kernel->run().outputs[0]), (std::vector<float>{2, 4}));
  graph.state(Stated::kNothing);
  EXPECT_EQ(values_of<float>(kernel->run().outputs[0]), (std::vector<float>{2, 4}));
}

TEST(FlatKernels, DoNotTrustStatedSizes) {
  SingleNodeGraph graph("Add", 13);
  graph.input(floats({2}, {1, 2})).input(floats({2}, {3, 4})).output(floats({2}, {0, 0}));
  Outcome failure;
  const auto kernel = cpu_session().create(graph, &failure);
  ASSERT_NE(kernel, nullptr) << failure.message;
  graph.replace_input(1, floats({3}, {1, 2, 3}));
  const Outcome outcome = kernel->run();
  EXPECT_EQ(outcome.code, EPH_INVALID_ARGUMENT);
  EXPECT_EQ(outcome.message, "Add node 'tested': shapes [2] and [3] cannot be broadcast to one");
}

}  // namespace
}  // namespace ephost::test::elementwise_test
