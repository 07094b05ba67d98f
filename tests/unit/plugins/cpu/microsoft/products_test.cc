// Matrix products of com.microsoft against sums in double.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/microsoft/microsoft_node.h"

namespace ephost::test::products_test {
namespace {

using Matrix = std::vector<double>;

// A [m, k] times B [k, n].
Matrix multiply(const Matrix& a, const Matrix& b, std::size_t m, std::size_t k, std::size_t n) {
  Matrix y(m * n, 0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t e = 0; e < k; ++e) y[i * n + j] += a[i * k + e] * b[e * n + j];
    }
  }
  return y;
}

Matrix transpose(const Matrix& x, std::size_t rows, std::size_t columns) {
  Matrix y(x.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
  }
  return y;
}

template <class T>
Matrix distances(const Tensor& x, const std::vector<int>& zeros, std::size_t columns) {
  Matrix y;
  for (const T byte : values_of<T>(x)) {
    const int zero = zeros.size() == 1 ? zeros[0] : zeros[y.size() % columns];
    y.push_back(static_cast<double>(byte - zero));
  }
  return y;
}

// ---- Of bytes -----------------------------------------------------------------------------------

TEST(MatMulIntegerToFloat, ScalesSumsByColumn) {
  constexpr std::size_t kM = 3, kK = 700, kN = 5;
  const Tensor a = random_bytes<uint8_t>({3, 700}, 1);
  const Tensor b = random_bytes<int8_t>({700, 5}, 2);
  const std::vector<int> b_zeros = {0, -128, 127, 5, -1};
  const std::vector<float> b_scales = {0.5F, 0.01F, 2, 0.1F, 1};
  const Tensor bias = random_floats({5}, 3, -100, 100);
  Matrix expected =
      multiply(distances<uint8_t>(a, {200}, 0), distances<int8_t>(b, b_zeros, kN), kM, kK, kN);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] =
        expected[i] * 0.25 * static_cast<double>(b_scales[i % kN]) + as_doubles(bias)[i % kN];
  }
  const Tensor zeros = tensor<int8_t>({5}, {0, -128, 127, 5, -1});
  const Tensor y = run_microsoft_one(
      "MatMulIntegerToFloat",
      {a, b, scalar(0.25F), floats({5}, b_scales), scalar_of<uint8_t>(200), zeros, bias});
  EXPECT_EQ(difference(y, from_doubles({3, 5}, expected), 1e-5, 1e-2), "");
}

TEST(MatMulIntegerToFloat, TakesBatchesAndNoZeroPoints) {
  const Tensor a = tensor<int8_t>({2, 1, 2}, {1, 2, 3, 4});
  const Tensor b = tensor<int8_t>({2, 2, 1}, {1, -1, 2, 100});
  EXPECT_THAT(run_microsoft("MatMulIntegerToFloat", {a, b, scalar(2), scalar(0.5F)}),
              Gives(std::vector{floats({2, 1, 1}, {-1, 406})}));
}

TEST(MatMulIntegerToFloat, GivesFloat16ForScalesOfFloat16) {
  const Tensor one = {EPH_ELEMENT_FLOAT16, {}, {0x00, 0x3c}, {}};
  const Tensor a = tensor<int8_t>({1, 2}, {1, 2});
  const Tensor b = tensor<int8_t>({2, 1}, {1, 1});
  const Tensor three = {EPH_ELEMENT_FLOAT16, {1, 1}, {0x00, 0x42}, {}};
  EXPECT_THAT(run_microsoft("MatMulIntegerToFloat", {a, b, one, one}), Gives(std::vector{three}));
}

TEST(MatMulIntegerToFloat, RefusesScalesForEachColumnOfA) {
  const Tensor a = tensor<int8_t>({1, 2}, {1, 2});
  const Tensor b = tensor<int8_t>({2, 1}, {1, 1});
  EXPECT_THAT(run_microsoft("MatMulIntegerToFloat", {a, b, floats({2}, {1, 1}), scalar(1)}),
              Refuses(EPH_NOT_IMPLEMENTED, "one scale and one zero point only"));
}

TEST(DynamicQuantizeMatMul, QuantizesAOverItsRange) {
  constexpr std::size_t kM = 4, kK = 33, kN = 3;
  const Tensor a = random_floats({2, 2, 33}, 4, -3, 5);
  const Tensor b = random_bytes<uint8_t>({33, 3}, 5);
  const std::vector<float> numbers = values_of<float>(a);
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  const float scale = (*high - *low) / 255;
  const float zero = std::nearbyint(-*low / scale);
  Matrix quantized;
  for (const float x : numbers) {
    const float byte = std::clamp(std::nearbyint(x / scale) + zero, 0.0F, 255.0F);
    quantized.push_back(static_cast<double>((byte - zero) * scale));
  }
  Matrix expected = multiply(quantized, distances<uint8_t>(b, {7, 100, 255}, kN), kM, kK, kN);
  const std::vector<float> scales = {0.5F, 0.25F, 1};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = expected[i] * static_cast<double>(scales[i % kN]) + static_cast<double>(i % kN);
  }
  const Tensor y = run_microsoft_one(
      "DynamicQuantizeMatMul",
      {a, b, floats({3}, scales), tensor<uint8_t>({3}, {7, 100, 255}), floats({3}, {0, 1, 2})});
  EXPECT_EQ(difference(y, from_doubles({2, 2, 3}, expected), 1e-5, 1e-2), "");
}

TEST(DynamicQuantizeMatMul, HandlesZerosAndNoRows) {
  const Tensor b = tensor<int8_t>({2, 1}, {3, 4});
  EXPECT_THAT(run_microsoft("DynamicQuantizeMatMul", {floats({1, 2}, {0, 0}), b, scalar(1)}),
              Gives(std::vector{floats({1, 1}, {0})}));
  EXPECT_THAT(run_microsoft("DynamicQuantizeMatMul", {floats({0, 2}, {}), b, scalar(1)}),
              Gives(std::vector{floats({0, 1}, {})}));
  EXPECT_THAT(run_unchecked("DynamicQuantizeMatMul", {floats({1, 2}, {0, 0}), b, scalar(1),
                                                      std::nullopt, floats({2}, {1, 2})}),
              Refuses(EPH_INVALID_ARGUMENT, "the bias of shape [2] does not have 1 elements"));
}

struct GemmWay {
  bool transpose_a, transpose_b, is_quantized;
};
class QGemmWays : public ::testing::TestWithParam<GemmWay> {};

TEST_P(QGemmWays, MultiplyAndAdd) {
  const GemmWay way = GetParam();
  constexpr std::size_t kM = 4, kK = 30, kN = 3;
  const Tensor a = random_bytes<uint8_t>(way.transpose_a ? Shape{30, 4} : Shape{4, 30}, 6);
  const Tensor b = random_bytes<int8_t>(way.transpose_b ? Shape{3, 30} : Shape{30, 3}, 7);
  const std::vector<int32_t> c = {100, -2000, 30000};
  const std::vector<int> b_zeros = {3, -4, 5};
  const std::vector<float> b_scales = {0.5F, 0.25F, 0.125F};
  Matrix left = distances<uint8_t>(a, {128}, 0);
  if (way.transpose_a) left = transpose(left, kK, kM);
  Matrix right = distances<int8_t>(b, {0}, 0);
  if (way.transpose_b) right = transpose(right, kN, kK);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] -= b_zeros[i % kN];
  Matrix expected = multiply(left, right, kM, kK, kN);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = 2 * 0.01 * static_cast<double>(b_scales[i % kN]) * (expected[i] + c[i % kN]);
  }
  Arguments inputs = {a,
                      scalar(0.01F),
                      scalar_of<uint8_t>(128),
                      b,
                      floats({3}, b_scales),
                      tensor<int8_t>({3}, {3, -4, 5}),
                      tensor<int32_t>({3}, c)};
  if (way.is_quantized) {
    inputs.push_back(scalar(4));
    inputs.push_back(scalar_of<int8_t>(-10));
  }
  const Tensor y = run_microsoft_one("QGemm", inputs,
                                     {{"alpha", 2.0F},
                                      {"transA", int64_t{way.transpose_a}},
                                      {"transB", int64_t{way.transpose_b}}});
  if (!way.is_quantized) {
    EXPECT_EQ(difference(y, from_doubles({4, 3}, expected), 1e-5, 1e-3), "");
    return;
  }
  const std::vector<int8_t> bytes = values_of<int8_t>(y);
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_NEAR(bytes[i], std::clamp(expected[i] / 4 - 10, -128.0, 127.0), 0.5001) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, QGemmWays,
                         ::testing::Values(GemmWay{false, false, false}, GemmWay{true, false, true},
                                           GemmWay{false, true, true}, GemmWay{true, true, false}));

TEST(QGemm, BroadcastsCInBothDimensionsAndWantsBothParametersOfY) {
  const Tensor a = tensor<uint8_t>({2, 1}, {1, 2});
  const Tensor b = tensor<uint8_t>({1, 2}, {3, 4});
  const Tensor zero = scalar_of<uint8_t>(0);
  const Arguments inputs = {
      a, scalar(1), zero, b, scalar(1), zero, tensor<int32_t>({2, 1}, {10, 20})};
  EXPECT_THAT(run_microsoft("QGemm", inputs), Gives(std::vector{floats({2, 2}, {13, 14, 26, 28})}));
  Arguments half = inputs;
  half.push_back(scalar(1));
  EXPECT_THAT(run_unchecked("QGemm", half),
              Refuses(EPH_INVALID_ARGUMENT, "must be given together"));
  EXPECT_EQ(infer_microsoft("QGemm", half).code, EPH_INVALID_GRAPH);
}

// ---- Weights of few bits ------------------------------------------------------------------------

struct BitsCase {
  int64_t bits, block;
  std::size_t m, k, n;
  enum Zeros { kNone, kPacked, kFloats } zeros;
  bool has_bias;
};

class MatMulNBitsCases : public ::testing::TestWithParam<BitsCase> {};

// Numbers of a few bits, the first one in the lowest bits of a byte; each row begins a byte.
std::vector<uint8_t> pack(const std::vector<int>& numbers, std::size_t row, int64_t bits) {
  const std::size_t bytes = (row * static_cast<std::size_t>(bits) + 7) / 8;
  std::vector<uint8_t> packed(numbers.size() / row * bytes, 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t bit = i % row * static_cast<std::size_t>(bits);
    packed[i / row * bytes + bit / 8] |= static_cast<uint8_t>(numbers[i] << bit % 8);
  }
  return packed;
}

TEST_P(MatMulNBitsCases, MultiplyWithWhatTheBlocksStandFor) {
  const BitsCase test = GetParam();
  const auto block = static_cast<std::size_t>(test.block);
  const std::size_t blocks = (test.k + block - 1) / block;
  const int largest = (1 << test.bits) - 1;
  std::mt19937 engine(11);
  std::uniform_int_distribution<int> draw(0, largest);
  std::vector<int> weights(test.n * blocks * block), zeros(test.n * blocks);
  for (int& w : weights) w = draw(engine);
  for (int& z : zeros) z = draw(engine);
  const auto n = static_cast<int64_t>(test.n);
  const auto in_column = static_cast<int64_t>(blocks);
  const Tensor scales = random_floats({n, in_column}, 12, 0.01F, 0.3F);
  const Tensor a = random_floats({static_cast<int64_t>(test.m), static_cast<int64_t>(test.k)}, 13);
  const Tensor bias = random_floats({n}, 14);
  Matrix b(test.k * test.n);
  for (std::size_t j = 0; j < test.n; ++j) {
    for (std::size_t i = 0; i < test.k; ++i) {
      const std::size_t at = j * blocks + i / block;
      const double zero = test.zeros == BitsCase::kNone     ? (largest + 1) / 2
                          : test.zeros == BitsCase::kPacked ? zeros[at]
                                                            : zeros[at] + 0.5;
      b[i * test.n + j] = (weights[j * blocks * block + i] - zero) * as_doubles(scales)[at];
    }
  }
  Matrix expected = multiply(as_doubles(a), b, test.m, test.k, test.n);
  for (std::size_t i = 0; test.has_bias && i < expected.size(); ++i) {
    expected[i] += as_doubles(bias)[i % test.n];
  }
  Arguments inputs = {
      a,
      tensor<uint8_t>({n, in_column, test.block * test.bits / 8}, pack(weights, block, test.bits)),
      scales,
      std::nullopt,
      std::nullopt,
      std::nullopt};
  if (test.zeros == BitsCase::kPacked) {
    const std::vector<uint8_t> packed = pack(zeros, blocks, test.bits);
    inputs[3] = tensor<uint8_t>({n, static_cast<int64_t>(packed.size()) / n}, packed);
  } else if (test.zeros == BitsCase::kFloats) {
    std::vector<float> numbers;
    for (const int z : zeros) numbers.push_back(static_cast<float>(z) + 0.5F);
    inputs[3] = floats({n, in_column}, numbers);
  }
  if (test.has_bias) inputs[5] = bias;
  const Tensor y = run_microsoft_one("MatMulNBits", inputs,
                                     {{"K", static_cast<int64_t>(test.k)},
                                      {"N", n},
                                      {"bits", test.bits},
                                      {"block_size", test.block}});
  EXPECT_EQ(difference(y, from_doubles({static_cast<int64_t>(test.m), n}, expected), 1e-4, 1e-3),
            "");
}

INSTANTIATE_TEST_SUITE_P(All, MatMulNBitsCases,
                         ::testing::Values(BitsCase{4, 32, 1, 64, 8, BitsCase::kNone, false},
                                           BitsCase{4, 16, 3, 50, 7, BitsCase::kPacked, true},
                                           BitsCase{4, 128, 2, 2100, 5, BitsCase::kFloats, false},
                                           BitsCase{2, 16, 2, 33, 6, BitsCase::kPacked, true},
                                           BitsCase{2, 64, 1, 64, 3, BitsCase::kNone, false},
                                           BitsCase{8, 32, 2, 65, 9, BitsCase::kPacked, false},
                                           BitsCase{8, 2048, 1, 1500, 2, BitsCase::kNone, true},
                                           BitsCase{4, 32, 20, 96, 300, BitsCase::kPacked, true},
                                           BitsCase{8, 16, 17, 40, 3, BitsCase::kFloats, false},
                                           BitsCase{4, 32, 7, 100, 11, BitsCase::kFloats, true},
                                           BitsCase{4, 64, 5, 640, 37, BitsCase::kPacked, false},
                                           BitsCase{4, 256, 1, 200, 5, BitsCase::kNone, true},
                                           BitsCase{4, 4096, 2, 40, 3, BitsCase::kNone, true},
                                           BitsCase{8, 64, 6, 192, 7, BitsCase::kNone, false},
                                           BitsCase{2, 32, 18, 70, 5, BitsCase::kPacked, false}));

Arguments small_bits() {
  return {floats({1, 16}, std::vector<float>(16, 1)),
          tensor<uint8_t>({1, 1, 8}, {0, 0, 0, 0, 0, 0, 0, 0}), floats({1, 1}, {1})};
}

TEST(MatMulNBits, RefusesWhatItDoesNotSupportBeforeItIsClaimed) {
  const auto with = [](Attributes extra) {
    Attributes attributes = {{"K", int64_t{16}}, {"N", int64_t{1}}};
    attributes.insert(attributes.end(), extra.begin(), extra.end());
    return attributes;
  };
  const Attributes plain = with({{"block_size", int64_t{16}}});
  EXPECT_THAT(run_microsoft("MatMulNBits", small_bits(), plain), IsOk());
  Arguments inputs = small_bits();
  inputs.push_back(std::nullopt);
  inputs.push_back(tensor<int32_t>({16}, std::vector<int32_t>(16, 0)));
  EXPECT_THAT(run_microsoft("MatMulNBits", inputs, plain),
              Refuses(EPH_NOT_IMPLEMENTED, "g_idx is not supported"));
  EXPECT_THAT(run_microsoft("MatMulNBits", small_bits(),
                            with({{"block_size", int64_t{16}}, {"bits", int64_t{3}}})),
              Refuses(EPH_NOT_IMPLEMENTED, "weights of 3 bits are not supported"));
  EXPECT_THAT(run_microsoft("MatMulNBits", small_bits(), with({{"block_size", int64_t{24}}})),
              Refuses(EPH_NOT_IMPLEMENTED, "block_size=24 is not a power of 2"));
  EXPECT_THAT(run_microsoft("MatMulNBits", small_bits(),
                            with({{"block_size", int64_t{16}}, {"weight_prepacked", int64_t{1}}})),
              Refuses(EPH_NOT_IMPLEMENTED, "weight_prepacked=1"));
}

TEST(MatMulNBits, RefusesTensorsOfOtherSizes) {
  const Attributes attributes = {
      {"K", int64_t{16}}, {"N", int64_t{1}}, {"block_size", int64_t{16}}};
  const auto with = [&](std::size_t i, const Tensor& other) {
    Arguments inputs = small_bits();
    inputs.resize(6);
    inputs[i] = other;
    return run_unchecked("MatMulNBits", inputs, attributes);
  };
  EXPECT_THAT(with(0, floats({1, 2}, {1, 2})), Refuses(EPH_INVALID_ARGUMENT, "rows of K=16"));
  EXPECT_THAT(with(1, tensor<uint8_t>({1, 1, 1}, {1})),
              Refuses(EPH_INVALID_ARGUMENT, "input 'B' of shape [1,1,1] does not have 8 elements"));
  EXPECT_THAT(with(2, floats({2}, {1, 2})), Refuses(EPH_INVALID_ARGUMENT, "input 'scales'"));
  EXPECT_THAT(with(3, floats({2}, {1, 2})), Refuses(EPH_INVALID_ARGUMENT, "input 'zero_points'"));
  EXPECT_THAT(with(3, tensor<uint8_t>({2}, {1, 2})),
              Refuses(EPH_INVALID_ARGUMENT, "input 'zero_points'"));
  EXPECT_THAT(with(5, floats({2}, {1, 2})), Refuses(EPH_INVALID_ARGUMENT, "input 'bias'"));
  EXPECT_THAT(run_unchecked("MatMulNBits", small_bits(),
                            {{"K", int64_t{0}}, {"N", int64_t{1}}, {"block_size", int64_t{16}}}),
              Refuses(EPH_INVALID_ARGUMENT, "must be positive"));
}

// ---- FusedMatMul and FusedGemm ------------------------------------------------------------------

struct FusedCase {
  Shape a, b, y;
  bool matrix_a, matrix_b, batch_a, batch_b;
};
class FusedMatMulCases : public ::testing::TestWithParam<FusedCase> {};

// The element of an operand at [batch..., row, column] of what is multiplied: `at` has that index.
std::size_t offset_of(const Shape& raw, std::vector<int64_t> at, bool matrix, bool batch) {
  const std::size_t rank = raw.size();
  if (rank > 1 && matrix) std::swap(at[rank - 1], at[rank - 2]);
  if (rank > 2 && batch) {
    // Rows come first in memory.
    const int64_t row = at[rank - 2];
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(rank) - 2);
    at.insert(at.begin(), row);
  }
  std::size_t offset = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    offset = offset * static_cast<std::size_t>(raw[d]) + static_cast<std::size_t>(at[d]);
  }
  return offset;
}

// For matrices with a batch, where swapping the last two dimensions comes after moving the first.
Shape logical(const Shape& raw, bool matrix, bool batch) {
  Shape shape = raw;
  if (shape.size() > 2 && batch) {
    const int64_t rows = shape.front();
    shape.erase(shape.begin());
    shape.insert(shape.end() - 1, rows);
  }
  if (shape.size() > 1 && matrix) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

TEST_P(FusedMatMulCases, MultiplyTransposedOperands) {
  const FusedCase test = GetParam();
  const Tensor a = random_floats(test.a, 21);
  const Tensor b = random_floats(test.b, 22);
  const Shape left = logical(test.a, test.matrix_a, test.batch_a);
  const Shape right = logical(test.b, test.matrix_b, test.batch_b);
  const auto k = left.back();
  const std::vector<float> as = values_of<float>(a);
  const std::vector<float> bs = values_of<float>(b);
  std::vector<double> expected;
  for (int64_t i = 0; i < count_of(test.y); ++i) {
    std::vector<int64_t> at(test.y.size());
    int64_t rest = i;
    for (std::size_t d = test.y.size(); d-- > 0;) {
      at[d] = rest % test.y[d];
      rest /= test.y[d];
    }
    const auto index = [&](const Shape& shape, int64_t row, int64_t column) {
      std::vector<int64_t> found(shape.size());
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const std::size_t from_end = shape.size() - d;
        if (from_end == 1) {
          found[d] = column;
        } else if (from_end == 2) {
          found[d] = row;
        } else {
          const int64_t of_y = at[test.y.size() - from_end];
          found[d] = shape[d] == 1 ? 0 : of_y;
        }
      }
      return found;
    };
    double sum = 0;
    for (int64_t e = 0; e < k; ++e) {
      const auto of_a = index(left, at[at.size() - 2], e);
      const auto of_b = index(right, e, at[at.size() - 1]);
      sum += static_cast<double>(as[offset_of(test.a, of_a, test.matrix_a, test.batch_a)]) *
             static_cast<double>(bs[offset_of(test.b, of_b, test.matrix_b, test.batch_b)]);
    }
    expected.push_back(sum * 1.5);
  }
  const Attributes attributes = {{"alpha", 1.5F},
                                 {"transA", int64_t{test.matrix_a}},
                                 {"transB", int64_t{test.matrix_b}},
                                 {"transBatchA", int64_t{test.batch_a}},
                                 {"transBatchB", int64_t{test.batch_b}}};
  const Tensor y = run_microsoft_one("FusedMatMul", {a, b}, attributes);
  EXPECT_EQ(difference(y, from_doubles(test.y, expected), 1e-4, 1e-5), "");
  const Tensor in_double =
      run_microsoft_one("FusedMatMul", {to_double_tensor(a), to_double_tensor(b)}, attributes);
  EXPECT_EQ(difference(in_double, tensor<double>(test.y, expected), 1e-9, 1e-9), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, FusedMatMulCases,
    ::testing::Values(FusedCase{{3, 4}, {4, 5}, {3, 5}, false, false, false, false},
                      FusedCase{{4, 3}, {5, 4}, {3, 5}, true, true, false, false},
                      FusedCase{{2, 4, 3}, {4, 5}, {2, 3, 5}, true, false, false, false},
                      FusedCase{{2, 4, 3}, {2, 5, 4}, {2, 3, 5}, true, true, false, false},
                      FusedCase{{2, 1, 4, 3}, {6, 5, 4}, {2, 6, 3, 5}, true, true, false, false},
                      FusedCase{{3, 2, 4}, {2, 4, 5}, {2, 3, 5}, false, false, true, false},
                      FusedCase{{3, 2, 6, 4}, {5, 2, 6, 4}, {2, 6, 3, 5}, false, true, true, true},
                      FusedCase{{4, 2, 3}, {4, 2, 5}, {2, 3, 5}, true, false, true, true}));

TEST(FusedMatMul, HandlesVectorsAndEmptyInnerDimensions) {
  EXPECT_THAT(run_microsoft("FusedMatMul", {floats({2}, {1, 2}), floats({2}, {3, 4})},
                            {{"transA", int64_t{1}}, {"transB", int64_t{1}}}),
              Gives(std::vector{floats({}, {11})}));
  EXPECT_THAT(run_microsoft("FusedMatMul", {floats({2, 0}, {}), floats({0, 1}, {})}),
              Gives(std::vector{floats({2, 1}, {0, 0})}));
  EXPECT_THAT(
      infer_microsoft("FusedMatMul", {floats({1, 2}, {1, 2}), floats({1, 2}, {1, 2})}).message,
      ::testing::HasSubstr("the inner dimensions of A and B differ: 2 and 1"));
}

TEST(FusedGemm, AppliesItsActivation) {
  const Tensor a = random_floats({4, 3}, 31);
  const Tensor b = random_floats({5, 4}, 32);
  const Tensor c = random_floats({5}, 33);
  Matrix sums = multiply(transpose(as_doubles(a), 4, 3), transpose(as_doubles(b), 5, 4), 3, 4, 5);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = 2 * sums[i] + 0.5 * as_doubles(c)[i % 5];
  const Attributes base = {
      {"alpha", 2.0F}, {"beta", 0.5F}, {"transA", int64_t{1}}, {"transB", int64_t{1}}};
  const auto expect = [&](const Attributes& extra, double (*f)(double)) {
    Attributes attributes = base;
    attributes.insert(attributes.end(), extra.begin(), extra.end());
    Matrix expected = sums;
    for (double& x : expected) x = f(x);
    EXPECT_EQ(difference(run_microsoft_one("FusedGemm", {a, b, c}, attributes),
                         from_doubles({3, 5}, expected), 1e-4, 1e-5),
              "");
  };
  expect({}, [](double x) { return x; });
  expect({{"activation", "Relu"}}, [](double x) { return std::max(x, 0.0); });
  expect({{"activation", "LeakyRelu"}, {"activation_alpha", 0.1F}},
         [](double x) { return x < 0 ? 0.1 * x : x; });
  expect({{"activation", "Sigmoid"}}, [](double x) { return 1 / (1 + std::exp(-x)); });
  expect({{"activation", "Tanh"}}, [](double x) { return std::tanh(x); });
  expect({{"activation", "HardSigmoid"}, {"activation_alpha", 0.2F}, {"activation_beta", 0.5F}},
         [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); });
}

TEST(FusedGemm, RefusesUnknownActivationsAndMissingParameters) {
  const Tensor one = floats({1, 1}, {1});
  EXPECT_THAT(run_microsoft("FusedGemm", {one, one}, {{"activation", "Swish"}}),
              Refuses(EPH_NOT_IMPLEMENTED, "activation 'Swish' is not supported"));
  EXPECT_THAT(run_microsoft("FusedGemm", {one, one}, {{"activation", "Clip"}}),
              Refuses(EPH_NOT_IMPLEMENTED, "activation 'Clip' is not supported"));
  EXPECT_THAT(run_microsoft("FusedGemm", {one, one}, {{"activation", "LeakyRelu"}}),
              Refuses(EPH_NOT_IMPLEMENTED, "needs the attribute activation_alpha"));
}

}  // namespace
}  // namespace ephost::test::products_test
