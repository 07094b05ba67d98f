// Element-wise operators, pools and Softmax on quantised tensors, against plain arithmetic in
// double.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "tests/unit/plugins/cpu/microsoft/microsoft_node.h"

namespace ephost::test::quantized_test {
namespace {

template <class T>
struct Format {
  double scale;
  int zero;

  [[nodiscard]] Tensor scale_tensor() const { return scalar(static_cast<float>(scale)); }
  [[nodiscard]] Tensor zero_tensor() const { return scalar_of<T>(static_cast<T>(zero)); }
  [[nodiscard]] double value(T byte) const { return scale * (byte - zero); }
  // Exact, so that a difference of 1 shows a number that lies between two others.
  [[nodiscard]] double position(double number) const {
    return std::clamp<double>(number / scale + zero, std::numeric_limits<T>::min(),
                              std::numeric_limits<T>::max());
  }
};

// Each number is the nearest to where it should be; halfway, float and double may disagree.
template <class T>
void expect_quantized(const Tensor& actual, const std::vector<double>& expected,
                      const Format<T>& format) {
  const std::vector<T> bytes = values_of<T>(actual);
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(bytes[i]), format.position(expected[i]), 0.5 + 1e-4) << i;
  }
}

// Powers of two as scales make halves exact.
template <class T>
class QuantizedBytes : public ::testing::Test {};
using ByteTypes = ::testing::Types<int8_t, uint8_t>;
TYPED_TEST_SUITE(QuantizedBytes, ByteTypes);

template <class T>
constexpr int kMiddle = std::is_signed_v<T> ? -3 : 119;

struct BinaryShapes {
  Shape a, b, c;
};
const BinaryShapes kBinaryShapes[] = {
    {{300}, {300}, {300}},        {{2, 3, 5}, {3, 1}, {2, 3, 5}}, {{}, {7}, {7}},
    {{4, 1}, {1, 300}, {4, 300}}, {{0, 2}, {1, 2}, {0, 2}},
};

template <class T>
void check_binary(const std::string& op_type, const std::function<double(double, double)>& f) {
  const Format<T> of_a = {0.021, kMiddle<T>};
  const Format<T> of_b = {0.5, kMiddle<T> + 9};
  const Format<T> of_c = {0.3, kMiddle<T> - 5};
  for (const BinaryShapes& shapes : kBinaryShapes) {
    const Tensor a = random_bytes<T>(shapes.a, 1);
    const Tensor b = random_bytes<T>(shapes.b, 2);
    const Tensor c = run_microsoft_one(
        op_type, {a, of_a.scale_tensor(), of_a.zero_tensor(), b, of_b.scale_tensor(),
                  of_b.zero_tensor(), of_c.scale_tensor(), of_c.zero_tensor()});
    ASSERT_EQ(c.shape, shapes.c);
    // The operands as tensors of doubles, repeated by index arithmetic.
    const auto operand = [&](const Tensor& x, const Format<T>& format, int64_t i) {
      int64_t at = 0;
      int64_t stride = 1;
      for (std::size_t d = 0; d < shapes.c.size(); ++d) {
        const std::size_t axis = shapes.c.size() - 1 - d;
        const int64_t index = i % shapes.c[axis];
        i /= shapes.c[axis];
        if (d >= x.shape.size()) continue;
        const int64_t extent = x.shape[x.shape.size() - 1 - d];
        if (extent != 1) at += index * stride;
        stride *= extent;
      }
      return format.value(values_of<T>(x)[static_cast<std::size_t>(at)]);
    };
    std::vector<double> expected;
    for (int64_t i = 0; i < count_of(shapes.c); ++i) {
      expected.push_back(f(operand(a, of_a, i), operand(b, of_b, i)));
    }
    expect_quantized<T>(c, expected, of_c);
  }
}

TYPED_TEST(QuantizedBytes, AreAdded) {
  check_binary<TypeParam>("QLinearAdd", [](double a, double b) { return a + b; });
}

TYPED_TEST(QuantizedBytes, AreMultiplied) {
  check_binary<TypeParam>("QLinearMul", [](double a, double b) { return a * b; });
}

TEST(QLinearAdd, RoundsToEvenAndSaturates) {
  const Tensor a = tensor<uint8_t>({6}, {0, 1, 3, 5, 255, 0});
  const Tensor zeros = tensor<uint8_t>({}, {0});
  // Sums of 0, 0.5, 1.5, 2.5, 127.5 and 0 at a scale of 1.
  EXPECT_THAT(run_microsoft("QLinearAdd", {a, scalar(0.5F), std::nullopt, zeros, scalar(1),
                                           std::nullopt, scalar(1)}),
              Gives(std::vector{tensor<uint8_t>({6}, {0, 0, 2, 2, 128, 0})}));
  EXPECT_THAT(
      run_microsoft("QLinearAdd", {a, scalar(4), scalar_of<uint8_t>(2), a, scalar(4),
                                   scalar_of<uint8_t>(2), scalar(1), scalar_of<uint8_t>(9)}),
      Gives(std::vector{tensor<uint8_t>({6}, {0, 1, 17, 33, 255, 0})}));
}

TEST(QLinearMul, TakesOmittedZeroPoints) {
  EXPECT_THAT(run_microsoft("QLinearMul", {tensor<int8_t>({3}, {-128, 127, 2}), scalar(1),
                                           std::nullopt, tensor<int8_t>({}, {3}), scalar(0.5F),
                                           std::nullopt, scalar(1), std::nullopt}),
              Gives(std::vector{tensor<int8_t>({3}, {-128, 127, 3})}));
}

template <class T>
void check_unary(const std::string& op_type, const Attributes& attributes,
                 const std::function<double(double)>& f) {
  std::vector<T> all;
  for (int i = std::numeric_limits<T>::min(); i <= std::numeric_limits<T>::max(); ++i) {
    all.push_back(static_cast<T>(i));
  }
  const Tensor x = tensor<T>({2, 128}, all);
  const Format<T> from = {0.05, kMiddle<T>};
  const Format<T> to = {0.02, kMiddle<T> + 3};
  const Tensor y = run_microsoft_one(
      op_type, {x, from.scale_tensor(), from.zero_tensor(), to.scale_tensor(), to.zero_tensor()},
      attributes);
  EXPECT_EQ(y.shape, x.shape);
  std::vector<double> expected;
  for (const T byte : all) expected.push_back(f(from.value(byte)));
  expect_quantized<T>(y, expected, to);
}

TYPED_TEST(QuantizedBytes, GoThroughSigmoid) {
  check_unary<TypeParam>("QLinearSigmoid", {}, [](double x) { return 1 / (1 + std::exp(-x)); });
}

TYPED_TEST(QuantizedBytes, GoThroughLeakyRelu) {
  check_unary<TypeParam>("QLinearLeakyRelu", {{"alpha", 0.25F}},
                         [](double x) { return x < 0 ? 0.25 * x : x; });
  check_unary<TypeParam>("QLinearLeakyRelu", {}, [](double x) { return x < 0 ? 0.01 * x : x; });
}

TYPED_TEST(QuantizedBytes, AreJoined) {
  using T = TypeParam;
  const Format<T> to = {0.1, kMiddle<T>};
  const Format<T> formats[] = {{0.1, kMiddle<T>}, {0.07, 4}, {1.5, kMiddle<T> - 1}};
  const Shape shapes[] = {{2, 3, 4}, {2, 1, 4}, {2, 0, 4}};
  Arguments inputs = {to.scale_tensor(), to.zero_tensor()};
  for (std::size_t i = 0; i < 3; ++i) {
    inputs.push_back(random_bytes<T>(shapes[i], static_cast<uint32_t>(i)));
    inputs.push_back(formats[i].scale_tensor());
    inputs.push_back(formats[i].zero_tensor());
  }
  for (const int64_t axis : {int64_t{1}, int64_t{-2}}) {
    const Tensor y = run_microsoft_one("QLinearConcat", inputs, {{"axis", axis}});
    ASSERT_EQ(y.shape, (Shape{2, 4, 4}));
    std::vector<double> expected;
    for (std::size_t o = 0; o < 2; ++o) {
      for (std::size_t i = 0; i < 2; ++i) {
        const auto bytes = values_of<T>(*inputs[2 + 3 * i]);
        const std::size_t length = bytes.size() / 2;
        for (std::size_t e = 0; e < length; ++e) {
          expected.push_back(formats[i].value(bytes[o * length + e]));
        }
      }
    }
    expect_quantized<T>(y, expected, to);
  }
}

TEST(QLinearConcat, RefusesIncompleteAndUnfittingParts) {
  const Tensor x = tensor<uint8_t>({2, 2}, {1, 2, 3, 4});
  const Tensor zero = scalar_of<uint8_t>(0);
  const Attributes axis = {{"axis", int64_t{0}}};
  EXPECT_THAT(run_unchecked("QLinearConcat", {scalar(1), zero, x, scalar(1)}, axis),
              Refuses(EPH_INVALID_GRAPH, "input 4 is required"));
  EXPECT_THAT(run_unchecked("QLinearConcat", {scalar(1), zero, x, scalar(1), zero, x}, axis),
              Refuses(EPH_INVALID_ARGUMENT, "three for each tensor"));
  EXPECT_THAT(run_unchecked("QLinearConcat", {scalar(1), zero, x, x, zero}, axis),
              Refuses(EPH_INVALID_ARGUMENT, "inputs 2 to 4 are not a tensor of uint8"));
  const Tensor wide = tensor<uint8_t>({1, 3}, {1, 2, 3});
  EXPECT_THAT(run_unchecked("QLinearConcat",
                            {scalar(1), zero, x, scalar(1), zero, wide, scalar(1), zero}, axis),
              Refuses(EPH_INVALID_ARGUMENT, "cannot be joined along axis 0"));
  EXPECT_THAT(infer_microsoft("QLinearConcat",
                              {scalar(1), zero, x, scalar(1), zero, wide, scalar(1), zero}, axis)
                  .message,
              ::testing::HasSubstr("extents of joined tensors differ: 2 and 3"));
}

TEST(QuantizedParameters, MustBeSingleNumbers) {
  const Tensor x = tensor<uint8_t>({2}, {1, 2});
  const Arguments inputs = {x, floats({2}, {1, 1}), std::nullopt, scalar(1), std::nullopt};
  EXPECT_THAT(run_unchecked("QLinearSigmoid", inputs),
              Refuses(EPH_INVALID_ARGUMENT, "input 1 of shape [2] is not a single number"));
  EXPECT_THAT(infer_microsoft("QLinearSigmoid", inputs).message,
              ::testing::HasSubstr("input 'scale' of shape [2] does not have 1 elements"));
}

// ---- Pools --------------------------------------------------------------------------------------

TYPED_TEST(QuantizedBytes, ArePooledGlobally) {
  using T = TypeParam;
  const Format<T> from = {0.3, kMiddle<T>};
  const Format<T> to = {0.11, kMiddle<T> + 7};
  const Tensor x = random_bytes<T>({2, 3, 4, 5}, 8);
  std::vector<double> expected;
  for (std::size_t p = 0; p < 6; ++p) {
    double sum = 0;
    for (std::size_t i = 0; i < 20; ++i) sum += from.value(values_of<T>(x)[p * 20 + i]);
    expected.push_back(sum / 20);
  }
  const auto run = [&](const Tensor& input, int64_t last) {
    return run_microsoft_one(
        "QLinearGlobalAveragePool",
        {input, from.scale_tensor(), from.zero_tensor(), to.scale_tensor(), to.zero_tensor()},
        {{"channels_last", last}});
  };
  const Tensor first = run(x, 0);
  EXPECT_EQ(first.shape, (Shape{2, 3, 1, 1}));
  expect_quantized<T>(first, expected, to);
  const Tensor last = run(channels_last<T>(x), 1);
  EXPECT_EQ(last.shape, (Shape{2, 1, 1, 3}));
  EXPECT_EQ(values_of<T>(last), values_of<T>(first));
}

TYPED_TEST(QuantizedBytes, ArePooledInWindows) {
  using T = TypeParam;
  const Format<T> from = {0.3, kMiddle<T>};
  const Format<T> to = {0.2, kMiddle<T> + 7};
  const Tensor x = random_bytes<T>({2, 3, 5, 6}, 9);
  const auto bytes = values_of<T>(x);
  for (const int64_t counts_pads : {0, 1}) {
    // Windows of 3 x 2, strides 2 and 1, one row of padding above and one column on the right.
    std::vector<double> expected;
    for (int64_t p = 0; p < 6; ++p) {
      for (int64_t y = 0; y < 2; ++y) {
        for (int64_t z = 0; z < 6; ++z) {
          double sum = 0;
          int64_t count = 0;
          for (int64_t i = y * 2 - 1; i < y * 2 + 2; ++i) {
            for (int64_t j = z; j < z + 2; ++j) {
              const bool inside = i >= 0 && i < 5 && j < 6;
              if (inside) sum += from.value(bytes[static_cast<std::size_t>((p * 5 + i) * 6 + j)]);
              if (inside || counts_pads != 0) ++count;
            }
          }
          expected.push_back(sum / static_cast<double>(count));
        }
      }
    }
    const auto run = [&](const Tensor& input, int64_t last) {
      return run_microsoft_one(
          "QLinearAveragePool",
          {input, from.scale_tensor(), from.zero_tensor(), to.scale_tensor(), to.zero_tensor()},
          {{"channels_last", last},
           {"count_include_pad", counts_pads},
           {"kernel_shape", std::vector<int64_t>{3, 2}},
           {"strides", std::vector<int64_t>{2, 1}},
           {"pads", std::vector<int64_t>{1, 0, 0, 1}}});
    };
    const Tensor first = run(x, 0);
    ASSERT_EQ(first.shape, (Shape{2, 3, 2, 6}));
    expect_quantized<T>(first, expected, to);
    EXPECT_EQ(difference(run(channels_last<T>(x), 1), channels_last<T>(first)), "");
  }
}

TEST(QLinearGlobalAveragePool, RefusesPlanesWithoutElements) {
  EXPECT_THAT(run_unchecked("QLinearGlobalAveragePool",
                            {tensor<uint8_t>({1, 2, 0}, {}), scalar(1), scalar_of<uint8_t>(0),
                             scalar(1), scalar_of<uint8_t>(0)}),
              Refuses(EPH_INVALID_ARGUMENT, "there is nothing to pool"));
}

TYPED_TEST(QuantizedBytes, GoThroughSoftmax) {
  using T = TypeParam;
  const Format<T> from = {0.04, kMiddle<T>};
  const Format<T> to = {1.0 / 256, std::numeric_limits<T>::min()};
  const Tensor x = random_bytes<T>({2, 3, 4}, 10);
  const auto bytes = values_of<T>(x);
  // Rows of `extent` elements that lie `inner` apart.
  const auto expected = [&](std::size_t extent, std::size_t inner) {
    std::vector<double> result(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t first = i / (extent * inner) * extent * inner + i % inner;
      double sum = 0;
      for (std::size_t e = 0; e < extent; ++e)
        sum += std::exp(from.value(bytes[first + e * inner]));
      result[i] = std::exp(from.value(bytes[i])) / sum;
    }
    return result;
  };
  const auto run = [&](int64_t axis, int64_t opset) {
    return run_microsoft_one(
        "QLinearSoftmax",
        {x, from.scale_tensor(), from.zero_tensor(), to.scale_tensor(), to.zero_tensor()},
        {{"axis", axis}, {"opset", opset}});
  };
  expect_quantized<T>(run(1, 13), expected(3, 4), to);
  expect_quantized<T>(run(-1, 13), expected(4, 1), to);
  expect_quantized<T>(run(1, 12), expected(12, 1), to);
  expect_quantized<T>(run(0, 11), expected(24, 1), to);
}

}  // namespace
}  // namespace ephost::test::quantized_test
