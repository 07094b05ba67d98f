// MatMul and Gemm against a product in double.
#include <functional>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::matrix_test {
namespace {

// One product of row-major matrices, m x k and k x n.
std::vector<double> multiply(const double* a, const double* b, int64_t m, int64_t k, int64_t n) {
  std::vector<double> y(static_cast<std::size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < n; ++j) {
        y[static_cast<std::size_t>(i * n + j)] += a[i * k + p] * b[p * n + j];
      }
    }
  }
  return y;
}

// Both batches have the same number of dimensions, each 1 or that of `batch`.
Tensor matmul(const Tensor& a, const Tensor& b, const Shape& batch) {
  const int64_t m = a.shape[a.shape.size() - 2];
  const int64_t k = a.shape.back();
  const int64_t n = b.shape.back();
  const std::vector<double> left = as_doubles(a);
  const std::vector<double> right = as_doubles(b);
  std::vector<double> all;
  for (int64_t i = 0; i < count_of(batch); ++i) {
    int64_t at_a = 0;
    int64_t at_b = 0;
    int64_t rest = i;
    for (std::size_t d = 0; d < batch.size(); ++d) {
      int64_t below = 1;
      for (std::size_t e = d + 1; e < batch.size(); ++e) below *= batch[e];
      const int64_t index = rest / below;
      rest %= below;
      at_a = at_a * a.shape[d] + (a.shape[d] == 1 ? 0 : index);
      at_b = at_b * b.shape[d] + (b.shape[d] == 1 ? 0 : index);
    }
    const std::vector<double> one =
        multiply(left.data() + at_a * m * k, right.data() + at_b * k * n, m, k, n);
    all.insert(all.end(), one.begin(), one.end());
  }
  Shape shape = batch;
  shape.insert(shape.end(), {m, n});
  return from_doubles(shape, all);
}

struct MatMulCase {
  Shape a, b, batch;
};

void PrintTo(const MatMulCase& test, std::ostream* out) {
  *out << ::testing::PrintToString(test.a) << " by " << ::testing::PrintToString(test.b);
}

class MatMul : public ::testing::TestWithParam<MatMulCase> {};

TEST_P(MatMul, AgreesWithTheReference) {
  const Tensor a = random_floats(GetParam().a, 1);
  const Tensor b = random_floats(GetParam().b, 2);
  const Tensor expected = matmul(a, b, GetParam().batch);
  for (const bool constant : {true, false}) {
    for (const Stated stated : {Stated::kTypesAndShapes, Stated::kTypes}) {
      SingleNodeGraph node("MatMul", 13);
      node.state(stated).input(a).output(expected);
      constant ? node.constant(b) : node.input(b);
      const Outcome outcome = cpu_session().run(node);
      ASSERT_THAT(outcome, IsOk());
      EXPECT_EQ(difference(outcome.outputs[0], expected, 1e-4, 1e-4), "");
    }
  }
  EXPECT_EQ(difference(run_one("MatMul", 13, {to_double_tensor(a), to_double_tensor(b)}),
                       to_double_tensor(expected), 1e-4, 1e-4),
            "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatMul,
                         ::testing::Values(MatMulCase{{37, 53}, {53, 61}, {}},
                                           MatMulCase{{1, 768}, {768, 96}, {}},
                                           MatMulCase{{2, 5, 16, 24}, {1, 1, 24, 40}, {2, 5}},
                                           MatMulCase{{3, 4, 20, 8}, {3, 4, 8, 20}, {3, 4}},
                                           MatMulCase{{3, 1, 6, 8}, {1, 4, 8, 5}, {3, 4}},
                                           MatMulCase{{1, 1, 6, 8}, {2, 3, 8, 5}, {2, 3}},
                                           MatMulCase{{2, 3, 4}, {2, 4, 1}, {2}}));

TEST(MatMulKernel, TakesVectorsAsNumpyDoes) {
  const Tensor row = floats({3}, {1, 2, 3});
  const Tensor matrix = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(run_node("MatMul", 13, {row, row}), Gives(std::vector<Tensor>{floats({}, {14})}));
  EXPECT_THAT(run_node("MatMul", 13, {row, matrix}),
              Gives(std::vector<Tensor>{floats({2}, {22, 28})}));
  EXPECT_THAT(run_node("MatMul", 13, {floats({2, 1, 3}, {1, 2, 3, 0, 0, 1}), row}),
              Gives(std::vector<Tensor>{floats({2, 1}, {14, 3})}));
}

TEST(MatMulKernel, GivesZeroForAnEmptyInnerDimensionAndNothingForAnEmptyOuterOne) {
  EXPECT_THAT(run_node("MatMul", 13, {floats({2, 0}, {}), floats({0, 2}, {})}),
              Gives(std::vector<Tensor>{floats({2, 2}, {0, 0, 0, 0})}));
  EXPECT_THAT(run_node("MatMul", 13, {floats({0, 3}, {}), random_floats({3, 2})}),
              Gives(std::vector<Tensor>{floats({0, 2}, {})}));
}

TEST(MatMulKernel, MultipliesIntegersModuloTheirRange) {
  EXPECT_EQ(values_of<int64_t>(run_one("MatMul", 13,
                                       {tensor<int64_t>({1, 2}, {3, int64_t{1} << 62}),
                                        tensor<int64_t>({2, 1}, {-5, 4})})),
            std::vector<int64_t>{-15});
}

struct GemmCase {
  bool transpose_a, transpose_b;
  float alpha, beta;
  Shape c;
  int64_t m = 17, k = 40, n = 29;
};

void PrintTo(const GemmCase& test, std::ostream* out) {
  *out << "transposed " << test.transpose_a << test.transpose_b << " alpha " << test.alpha
       << " beta " << test.beta << " c " << ::testing::PrintToString(test.c) << ", " << test.m
       << "x" << test.k << " by " << test.n;
}

void expect_reference(const GemmCase& test) {
  const int64_t m = test.m;
  const int64_t k = test.k;
  const int64_t n = test.n;
  const Tensor a = random_floats(test.transpose_a ? Shape{k, m} : Shape{m, k}, 1);
  const Tensor b = random_floats(test.transpose_b ? Shape{n, k} : Shape{k, n}, 2);
  const Tensor c = random_floats(test.c, 3);
  const auto at = [](const Tensor& t, bool transposed, int64_t row, int64_t column) {
    const int64_t i = transposed ? column * t.shape[1] + row : row * t.shape[1] + column;
    return static_cast<double>(values_of<float>(t)[static_cast<std::size_t>(i)]);
  };
  std::vector<double> left;
  std::vector<double> right;
  for (int64_t i = 0; i < m * k; ++i) left.push_back(at(a, test.transpose_a, i / k, i % k));
  for (int64_t i = 0; i < k * n; ++i) right.push_back(at(b, test.transpose_b, i / n, i % n));
  std::vector<double> y = multiply(left.data(), right.data(), m, k, n);
  const std::vector<double> addend = as_doubles(c);
  const int64_t c_rows = test.c.size() == 2 ? test.c[0] : 1;
  const int64_t c_columns = test.c.empty() ? 1 : test.c.back();
  for (int64_t i = 0; i < m * n; ++i) {
    const int64_t from = (c_rows == 1 ? 0 : i / n * c_columns) + (c_columns == 1 ? 0 : i % n);
    double& value = y[static_cast<std::size_t>(i)];
    value = static_cast<double>(test.alpha) * value +
            static_cast<double>(test.beta) * addend[static_cast<std::size_t>(from)];
  }
  const Tensor expected = from_doubles({m, n}, y);
  const Attributes attributes = {{"transA", int64_t{test.transpose_a}},
                                 {"transB", int64_t{test.transpose_b}},
                                 {"alpha", test.alpha},
                                 {"beta", test.beta}};
  SingleNodeGraph node("Gemm", 13);
  node.input(a).constant(b).constant(c).output(expected);
  for (const auto& [name, value] : attributes) node.attribute(name, value);
  const Outcome outcome = cpu_session().run(node);
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(difference(outcome.outputs[0], expected, 1e-4, 1e-4), "");
  EXPECT_EQ(difference(run_one("Gemm", 13, {a, b, c}, attributes), expected, 1e-4, 1e-4), "");
  const Tensor wide = run_one(
      "Gemm", 13, {to_double_tensor(a), to_double_tensor(b), to_double_tensor(c)}, attributes);
  EXPECT_EQ(difference(wide, to_double_tensor(expected), 1e-4, 1e-4), "");
}

class Gemm : public ::testing::TestWithParam<GemmCase> {};

TEST_P(Gemm, AgreesWithTheReference) { expect_reference(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Forms, Gemm,
                         ::testing::Values(GemmCase{false, true, 1, 1, {29}},
                                           GemmCase{true, false, 1, 1, {1, 29}},
                                           GemmCase{true, true, 0.5F, 2, {17, 29}},
                                           GemmCase{false, false, 1, 0.25F, {17, 1}},
                                           GemmCase{false, false, 3, 1, {}},
                                           GemmCase{false, true, 1, 0, {1}}));

// The library derives leading dimensions from strides, which extents of one leave open, and has
// separate code for sizes that do not fill a vector.
TEST(GemmKernel, AgreesWithTheReferenceAtExtentsOfOneAndBetweenVectors) {
  for (const auto& [m, n] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 19}, {5, 1}, {5, 6}, {5, 19}}) {
    for (const int64_t k : {1, 7, 16}) {
      for (const Shape& c : {Shape{n}, Shape{m, n}}) {
        for (const float alpha : {1.0F, 0.5F}) {
          for (int form = 0; form < 4; ++form) {
            const GemmCase test = {(form & 1) != 0, (form & 2) != 0, alpha, alpha, c, m, k, n};
            SCOPED_TRACE(::testing::PrintToString(test));
            expect_reference(test);
          }
        }
      }
    }
  }
}

TEST(GemmKernel, ScalesIntegers) {
  EXPECT_EQ(values_of<int32_t>(run_one("Gemm", 13,
                                       {tensor<int32_t>({1, 2}, {1, -2}),
                                        tensor<int32_t>({2, 1}, {3, 4}), tensor<int32_t>({1}, {7})},
                                       {{"alpha", 2.0F}, {"beta", -1.0F}})),
            std::vector<int32_t>{-17});
}

TEST(GemmKernel, LeavesOnlyCWhereTheInnerDimensionIsEmpty) {
  EXPECT_THAT(run_node("Gemm", 13, {floats({1, 0}, {}), floats({0, 2}, {}), floats({2}, {1, 2})},
                       {{"beta", 3.0F}}),
              Gives(std::vector<Tensor>{floats({1, 2}, {3, 6})}));
}

}  // namespace
}  // namespace ephost::test::matrix_test
