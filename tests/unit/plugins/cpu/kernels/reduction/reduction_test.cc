// Reductions over every choice of axes, ArgMax, CumSum and TopK.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::reduction_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Reduction {
  const char* op_type;
  double start;
  double (*fold)(double, double);
  double (*finish)(double, double);  // of the accumulator and the number of terms
};

double same(double value, double) { return value; }

constexpr Reduction kReductions[] = {
    {"ReduceSum", 0, [](double a, double x) { return a + x; }, same},
    {"ReduceMean", 0, [](double a, double x) { return a + x; },
     [](double a, double n) { return a / n; }},
    {"ReduceMax", -INFINITY, [](double a, double x) { return std::fmax(a, x); }, same},
    {"ReduceMin", INFINITY, [](double a, double x) { return std::fmin(a, x); }, same},
    {"ReduceProd", 1, [](double a, double x) { return a * x; }, same},
    {"ReduceL1", 0, [](double a, double x) { return a + std::fabs(x); }, same},
    {"ReduceL2", 0, [](double a, double x) { return a + x * x; },
     [](double a, double) { return std::sqrt(a); }},
    {"ReduceLogSum", 0, [](double a, double x) { return a + x; },
     [](double a, double) { return std::log(a); }},
    {"ReduceLogSumExp", 0, [](double a, double x) { return a + std::exp(x); },
     [](double a, double) { return std::log(a); }},
    {"ReduceSumSquare", 0, [](double a, double x) { return a + x * x; }, same}};

Tensor reduce(const Reduction& reduction, const Tensor& x, uint32_t axes, bool keep) {
  Shape out;
  Shape kept;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    const bool reduced = (axes >> d & 1) != 0;
    kept.push_back(reduced ? 1 : x.shape[d]);
    if (keep || !reduced) out.push_back(kept.back());
  }
  std::vector<double> result(static_cast<std::size_t>(count_of(kept)), reduction.start);
  const std::vector<double> from = as_doubles(x);
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t at = 0;
    int64_t stride = 1;
    for (std::size_t d = x.shape.size(); d-- > 0;) {
      at += kept[d] == 1 ? 0 : rest % x.shape[d] * stride;
      stride *= kept[d];
      rest /= x.shape[d];
    }
    double& slot = result[static_cast<std::size_t>(at)];
    slot = reduction.fold(slot, from[i]);
  }
  const double terms = static_cast<double>(from.size()) / static_cast<double>(result.size());
  for (double& value : result) value = reduction.finish(value, terms);
  return from_doubles(out, result);
}

void PrintTo(const Reduction& reduction, std::ostream* out) { *out << reduction.op_type; }

class Reducing : public ::testing::TestWithParam<Reduction> {};

TEST_P(Reducing, AgreesForEverySetOfAxes) {
  const Reduction& reduction = GetParam();
  for (const Shape& shape : {Shape{3, 4, 5, 6}, Shape{2, 150, 1, 140}}) {
    const Tensor x = random_floats(shape, 2, 0.9F, 1.05F);
    for (uint32_t axes = 1; axes < 16; ++axes) {
      std::vector<int64_t> list;
      for (int64_t d = 0; d < 4; ++d) {
        if ((axes >> d & 1) != 0) list.push_back(axes % 2 == 0 ? d : d - 4);
      }
      const bool keep = axes % 3 == 0;
      const bool input = std::string(reduction.op_type) == "ReduceSum";
      Attributes attributes = {{"keepdims", int64_t{keep}}};
      std::vector<Tensor> inputs = {x};
      if (input) {
        inputs.push_back(ints(list));
      } else {
        attributes.emplace_back("axes", list);
      }
      EXPECT_EQ(difference(run_one(reduction.op_type, 13, inputs, attributes),
                           reduce(reduction, x, axes, keep), 1e-4, 1e-6),
                "")
          << reduction.op_type << " " << axes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Reducing, ::testing::ValuesIn(kReductions),
                         [](const auto& test) { return std::string(test.param.op_type); });

TEST(Reductions, OverNoElementsGiveTheNeutralElement) {
  const Tensor x = floats({2, 0}, {});
  const Attributes attributes = {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}};
  const auto expect = [&](const char* op_type, const Tensor& expected) {
    EXPECT_EQ(difference(run_one(op_type, 11, {x}, attributes), expected), "") << op_type;
  };
  expect("ReduceSum", floats({2}, {0, 0}));
  expect("ReduceProd", floats({2}, {1, 1}));
  expect("ReduceMax", floats({2}, {-kInf, -kInf}));
  expect("ReduceMin", floats({2}, {kInf, kInf}));
  expect("ReduceLogSumExp", floats({2}, {-kInf, -kInf}));
}

TEST(Reductions, WithoutAxesReduceAllUnlessAnAttributeForbidsIt) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(run_node("ReduceSum", 13, {x}), Gives(std::vector<Tensor>{floats({1, 1}, {10})}));
  EXPECT_THAT(run_node("ReduceSum", 13, {x, ints({})}, {{"noop_with_empty_axes", int64_t{1}}}),
              Gives(std::vector<Tensor>{x}));
}

TEST(Reductions, KeepIntegersExact) {
  const int64_t big = int64_t{1} << 60;
  EXPECT_EQ(values_of<int64_t>(run_one("ReduceSum", 11, {ints({big, 1, -3})})),
            std::vector<int64_t>{big - 2});
  EXPECT_EQ(values_of<int64_t>(run_one("ReduceMean", 13, {ints({-7, 0})})),
            std::vector<int64_t>{-3});
  EXPECT_EQ(values_of<int8_t>(run_one("ReduceMax", 13, {tensor<int8_t>({3}, {-5, -3, -4})})),
            std::vector<int8_t>{-3});
}

TEST(Reductions, FindAnExtremeAndNanAnywhereInARow) {
  constexpr std::size_t kLength = 77;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at = 0; at < kLength; ++at) {
    for (const float odd : {nan, 2.0F, -2.0F}) {
      std::vector<float> row = values_of<float>(random_floats({kLength}, 8));
      row[at] = odd;
      const auto [low, high] = std::minmax_element(row.begin(), row.end());
      const Tensor x = floats({kLength}, row);
      const Attributes all = {{"keepdims", int64_t{0}}};
      EXPECT_THAT(run_node("ReduceMax", 13, {x}, all),
                  Gives(std::vector<Tensor>{floats({}, {std::isnan(odd) ? nan : *high})}));
      EXPECT_THAT(run_node("ReduceMin", 13, {x}, all),
                  Gives(std::vector<Tensor>{floats({}, {std::isnan(odd) ? nan : *low})}));
    }
  }
}

TEST(ReduceLogSumExp, IsStable) {
  EXPECT_THAT(run_node("ReduceLogSumExp", 13, {floats({2}, {1000, 1000})}),
              Gives(std::vector<Tensor>{floats({1}, {1000.6931F})}));
  EXPECT_THAT(run_node("ReduceLogSumExp", 13, {floats({3}, {-kInf, 2, -kInf})}),
              Gives(std::vector<Tensor>{floats({1}, {2})}));
}

TEST(ArgExtremes, TakeTheFirstOrTheLastOfEqualElements) {
  const Tensor x = floats({2, 3}, {1, 5, 5, 7, 7, 0});
  const Attributes last = {
      {"axis", int64_t{1}}, {"select_last_index", int64_t{1}}, {"keepdims", int64_t{0}}};
  EXPECT_THAT(run_node("ArgMax", 13, {x}, {{"axis", int64_t{1}}}),
              Gives(std::vector<Tensor>{tensor<int64_t>({2, 1}, {1, 0})}));
  EXPECT_THAT(run_node("ArgMax", 13, {x}, last), Gives(std::vector<Tensor>{ints({2, 1})}));
  EXPECT_THAT(run_node("ArgMin", 13, {x}),
              Gives(std::vector<Tensor>{tensor<int64_t>({1, 3}, {0, 0, 1})}));
}

TEST(CumSum, RunsBothWaysAndInPlace) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Attributes attributes = {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}};
  EXPECT_THAT(run_node("CumSum", 14, {x, tensor<int32_t>({}, {-1})}, attributes),
              Gives(std::vector<Tensor>{floats({2, 3}, {5, 3, 0, 11, 6, 0})}));
  EXPECT_THAT(run_node("CumSum", 14, {x, ints({0})}),
              Gives(std::vector<Tensor>{floats({2, 3}, {1, 2, 3, 5, 7, 9})}));
}

TEST(TopK, OrdersEqualElementsByIndexAndNanFirst) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = floats({6}, {-0.0F, 3, nan, 3, -kInf, 0});
  EXPECT_THAT(
      run_node("TopK", 11, {x, ints({5})}, {}, 2),
      Gives(std::vector<Tensor>{floats({5}, {nan, 3, 3, -0.0F, 0}), ints({2, 1, 3, 0, 5})}));
  EXPECT_THAT(run_node("TopK", 11, {x, ints({2})}, {{"largest", int64_t{0}}}, 2),
              Gives(std::vector<Tensor>{floats({2}, {-kInf, -0.0F}), ints({4, 0})}));
}

TEST(TopK, AgreesWithSorting) {
  const Tensor x = random_floats({3, 500}, 6);
  const std::vector<float> numbers = values_of<float>(x);
  for (const int64_t k : {1, 5, 499, 500}) {
    const Outcome outcome = run_node("TopK", 11, {x, ints({k})}, {}, 2);
    ASSERT_THAT(outcome, IsOk());
    const std::vector<float> found = values_of<float>(outcome.outputs[0]);
    for (std::ptrdiff_t row = 0; row < 3; ++row) {
      std::vector<float> sorted(numbers.begin() + row * 500, numbers.begin() + (row + 1) * 500);
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      EXPECT_TRUE(
          std::equal(found.begin() + row * k, found.begin() + (row + 1) * k, sorted.begin()))
          << "k=" << k << " row " << row;
    }
  }
}

TEST(TopK, OrdersIntegersOverTheirWholeRange) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values_of<int64_t>(
                run_node("TopK", 11, {ints({low, -1, 5, 0}), ints({4})}, {}, 2).outputs.at(0)),
            (std::vector<int64_t>{5, 0, -1, low}));
}

TEST(TopK, GivesOnlyIndicesIfOnlyTheyAreWanted) {
  SingleNodeGraph node("TopK", 11);
  node.input(floats({2, 2}, {1, 2, 4, 3})).input(ints({1})).skip_output().output();
  const Outcome outcome = cpu_session().run(node);
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(difference(outcome.outputs[1], tensor<int64_t>({2, 1}, {1, 0})), "");
}

}  // namespace
}  // namespace ephost::test::reduction_test
