// Quantised operators against plain arithmetic in integers and double.
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::quantization_test {
namespace {

template <class T>
Tensor random_integers(const Shape& shape, uint32_t seed, int low, int high) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> draw(low, high);
  std::vector<T> values(static_cast<std::size_t>(count_of(shape)));
  for (T& value : values) value = static_cast<T>(draw(engine));
  return tensor<T>(shape, values);
}
Tensor raw(int32_t type, Shape shape, const std::vector<int>& bytes) {
  Tensor made = {type, std::move(shape), {}, {}};
  for (const int byte : bytes) made.bytes.push_back(static_cast<char>(byte));
  return made;
}

TEST(QuantizeLinear, RoundsToEvenAndSaturates) {
  const Tensor x = floats({6}, {1, 3, -1, 1000, -1000, NAN});
  EXPECT_THAT(run_node("QuantizeLinear", 13, {x, floats({}, {2}), tensor<uint8_t>({}, {10})}),
              Gives(std::vector{tensor<uint8_t>({6}, {10, 12, 10, 255, 0, 10})}));
  EXPECT_THAT(run_node("QuantizeLinear", 13, {x, floats({}, {2})}),
              Gives(std::vector{tensor<uint8_t>({6}, {0, 2, 0, 255, 0, 0})}));
  EXPECT_THAT(run_node("QuantizeLinear", 21, {x, floats({}, {2}), tensor<int16_t>({}, {-3})}),
              Gives(std::vector{tensor<int16_t>({6}, {-3, -1, -3, 497, -503, -3})}));
  EXPECT_THAT(run_node("QuantizeLinear", 10, {tensor<int32_t>({2}, {5, -7}), floats({}, {2})}),
              Gives(std::vector{tensor<uint8_t>({2}, {2, 0})}));
}

// The scale of element (o, a, i) in a tensor [outer, extent, inner].
struct Granularity {
  const char* name;
  Shape shape;
  Shape scales;
  int64_t axis, block;
};
void PrintTo(const Granularity& test, std::ostream* stream) { *stream << test.name; }

class Granularities : public ::testing::TestWithParam<Granularity> {
 protected:
  // The scale that belongs to element `at`.
  static std::size_t scale_index(int64_t at) {
    const Granularity& test = GetParam();
    if (count_of(test.scales) == 1 && test.block == 0) return 0;
    const auto axis = static_cast<std::size_t>(test.axis);
    int64_t inner = 1;
    for (std::size_t d = axis + 1; d < test.shape.size(); ++d) inner *= test.shape[d];
    const int64_t index = at / inner % test.shape[axis];
    if (test.block == 0) return static_cast<std::size_t>(index);
    const int64_t outer = at / inner / test.shape[axis];
    return static_cast<std::size_t>((outer * test.scales[axis] + index / test.block) * inner +
                                    at % inner);
  }
};

TEST_P(Granularities, GoBothWays) {
  const Granularity& test = GetParam();
  const Tensor x = random_floats(test.shape, 3, -40, 40);
  const Tensor scales = random_floats(test.scales, 4, 0.1F, 2);
  const Tensor zeros = random_integers<int8_t>(test.scales, 5, -5, 5);
  const Attributes attributes = {{"axis", test.axis}, {"block_size", test.block}};
  const Tensor y = run_one("QuantizeLinear", 21, {x, scales, zeros}, attributes);
  const Tensor back = run_one("DequantizeLinear", 21, {y, scales, zeros}, attributes);
  const auto quantized = values_of<int8_t>(y);
  const auto restored = values_of<float>(back);
  const auto numbers = values_of<float>(x);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t s = scale_index(static_cast<int64_t>(i));
    const float scale = values_of<float>(scales)[s];
    const int zero = values_of<int8_t>(zeros)[s];
    const float expected =
        std::clamp(std::nearbyint(numbers[i] / scale) + static_cast<float>(zero), -128.0F, 127.0F);
    ASSERT_EQ(quantized[i], static_cast<int>(expected)) << i;
    ASSERT_FLOAT_EQ(restored[i], static_cast<float>(quantized[i] - zero) * scale) << i;
  }
}

Tensor two_bits(int32_t type, const Shape& shape, const std::vector<int>& elements) {
  std::vector<int> bytes((elements.size() + 3) / 4);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    bytes[i / 4] += (elements[i] + 4) % 4 << i % 4 * 2;
  }
  return raw(type, shape, bytes);
}

TEST_P(Granularities, GoBothWaysAtTwoBits) {
  const Granularity& test = GetParam();
  const std::vector<float> numbers = values_of<float>(random_floats(test.shape, 3, -4, 4));
  const std::vector<float> scales = values_of<float>(random_floats(test.scales, 4, 0.5F, 2));
  const Attributes attributes = {{"axis", test.axis}, {"block_size", test.block}};
  for (const int32_t type : {EPH_ELEMENT_INT2, EPH_ELEMENT_UINT2}) {
    const int low = type == EPH_ELEMENT_INT2 ? -2 : 0;
    std::vector<int> zeros, quantized;
    std::vector<float> restored;
    for (std::size_t s = 0; s < scales.size(); ++s) zeros.push_back(low + static_cast<int>(s % 4));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t s = scale_index(static_cast<int64_t>(i));
      const float rounded = std::nearbyint(numbers[i] / scales[s]);
      quantized.push_back(std::clamp(static_cast<int>(rounded) + zeros[s], low, low + 3));
      restored.push_back(static_cast<float>(quantized.back() - zeros[s]) * scales[s]);
    }
    const Tensor zero_points = two_bits(type, test.scales, zeros);
    const Tensor y = two_bits(type, test.shape, quantized);
    EXPECT_THAT(run_node("QuantizeLinear", 25,
                         {floats(test.shape, numbers), floats(test.scales, scales), zero_points},
                         attributes),
                Gives(std::vector{y}));
    EXPECT_THAT(
        run_node("DequantizeLinear", 25, {y, floats(test.scales, scales), zero_points}, attributes),
        Gives(std::vector{floats(test.shape, restored)}));
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Granularities,
                         ::testing::Values(Granularity{"tensor", {3, 700}, {}, 1, 0},
                                           Granularity{"channel", {2, 3, 5, 7}, {3}, 1, 0},
                                           Granularity{"last", {4, 600}, {600}, 1, 0},
                                           Granularity{"first", {4, 6}, {4}, 0, 0},
                                           Granularity{"blockslast", {3, 10}, {3, 4}, 1, 3},
                                           Granularity{"blocksfirst", {10, 3, 2}, {4, 3, 2}, 0, 3},
                                           Granularity{
                                               "blocksmiddle", {2, 4, 300}, {2, 2, 300}, 1, 2}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(QuantizeLinear, MakesShortTypes) {
  const Tensor x = floats({3}, {1, -3, 100});
  const Tensor scale = floats({}, {2});
  const auto to = [&](int32_t type) {
    return run_node("QuantizeLinear", 23, {x, scale}, {{"output_dtype", int64_t{type}}});
  };
  EXPECT_THAT(to(EPH_ELEMENT_INT4), Gives(std::vector{raw(EPH_ELEMENT_INT4, {3}, {0xe0, 0x07})}));
  EXPECT_THAT(to(EPH_ELEMENT_UINT4), Gives(std::vector{raw(EPH_ELEMENT_UINT4, {3}, {0x00, 0x0f})}));
  EXPECT_THAT(to(EPH_ELEMENT_FLOAT8E4M3FN),
              Gives(std::vector{raw(EPH_ELEMENT_FLOAT8E4M3FN, {3}, {0x30, 0xbc, 0x64})}));
  EXPECT_THAT(to(EPH_ELEMENT_FLOAT4E2M1),
              Gives(std::vector{raw(EPH_ELEMENT_FLOAT4E2M1, {3}, {0xb1, 0x07})}));
  EXPECT_THAT(run_node("DequantizeLinear", 21, {raw(EPH_ELEMENT_INT4, {3}, {0xe0, 0x07}), scale}),
              Gives(std::vector{floats({3}, {0, -4, 14})}));
  EXPECT_THAT(
      run_node("DequantizeLinear", 19, {raw(EPH_ELEMENT_FLOAT8E4M3FN, {2}, {0x30, 0xbc}), scale}),
      Gives(std::vector{floats({2}, {1, -3})}));
}

TEST(QuantizeLinear, DividesInThePrecisionOfTheScale) {
  // The quotient is 2048.9, where float16 has only even numbers.
  Tensor scale = tensor<uint16_t>({}, {0x4000});
  scale.type = EPH_ELEMENT_FLOAT16;
  const Tensor x = floats({1}, {4097.8F});
  const Tensor zero = tensor<int16_t>({}, {0});
  EXPECT_THAT(run_node("QuantizeLinear", 23, {x, scale, zero}),
              Gives(std::vector{tensor<int16_t>({1}, {2048})}));
  EXPECT_THAT(
      run_node("QuantizeLinear", 23, {x, scale, zero}, {{"precision", int64_t{EPH_ELEMENT_FLOAT}}}),
      Gives(std::vector{tensor<int16_t>({1}, {2049})}));
}

TEST(QuantizeLinear, TakesPowersOfTwoAsScales) {
  const Tensor x = floats({3}, {1, -3, 4097.8F});
  const Tensor two = raw(EPH_ELEMENT_FLOAT8E8M0, {}, {0x80});
  const Tensor codes = tensor<int16_t>({3}, {0, -2, 2049});
  EXPECT_THAT(run_node("QuantizeLinear", 24, {x, two}, {{"output_dtype", int64_t{5}}}),
              Gives(std::vector{codes}));
  EXPECT_THAT(run_node("DequantizeLinear", 24, {codes, two}, {{"output_dtype", int64_t{1}}}),
              Gives(std::vector{floats({3}, {0, -4, 4098})}));
  EXPECT_THAT(run_node("DequantizeLinear", 24, {codes, two}),
              Refuses(EPH_INVALID_ARGUMENT, "scales of float8e8m0 need attribute output_dtype"));
}

TEST(QuantizeLinear, RefusesScalesThatDoNotFit) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor two = floats({2}, {1, 1});
  EXPECT_THAT(
      run_node("QuantizeLinear", 13, {x, two}),
      Refuses(EPH_INVALID_ARGUMENT, "scales of shape [2] do not fit a tensor of shape [2,3]"));
  EXPECT_THAT(
      run_node("QuantizeLinear", 21, {x, floats({2, 1}, {1, 1})}, {{"block_size", int64_t{2}}}),
      Refuses(EPH_INVALID_ARGUMENT, "in blocks of 2"));
  EXPECT_THAT(
      run_node("QuantizeLinear", 13, {x, floats({}, {1}), tensor<uint8_t>({2}, {0, 0})}),
      Refuses(EPH_INVALID_ARGUMENT, "zero points of shape [2] do not match scales of shape []"));
  EXPECT_THAT(run_node("QuantizeLinear", 13, {x, two}, {{"axis", int64_t{2}}}),
              Refuses(EPH_INVALID_ARGUMENT, "axis 2 is outside"));
  EXPECT_THAT(
      run_node("QuantizeLinear", 21, {x, two}, {{"output_dtype", int64_t{EPH_ELEMENT_INT64}}}),
      Refuses(EPH_NOT_IMPLEMENTED, "output_dtype=7"));
}

TEST(DynamicQuantizeLinear, TakesZerosAndInfinities) {
  EXPECT_THAT(
      run_node("DynamicQuantizeLinear", 11, {floats({2}, {0, 0})}, {}, 3),
      Gives(std::vector{tensor<uint8_t>({2}, {0, 0}), floats({}, {1}), tensor<uint8_t>({}, {0})}));
  EXPECT_THAT(run_node("DynamicQuantizeLinear", 11, {floats({2}, {-INFINITY, NAN})}, {}, 3),
              IsOk());
}

// Large numbers and many terms, whose sums only integers represent exactly.
struct Sizes {
  int64_t m, k, n;
  bool per_row, per_column;
};

class IntegerProducts : public ::testing::TestWithParam<Sizes> {};

TEST_P(IntegerProducts, AreExact) {
  const auto [m, k, n, per_row, per_column] = GetParam();
  const Tensor a = random_integers<uint8_t>({m, k}, 1, 200, 255);
  const Tensor b = random_integers<int8_t>({k, n}, 2, -128, -100);
  const Tensor a_zero = per_row ? random_integers<uint8_t>({m}, 3, 0, 9) : tensor<uint8_t>({}, {3});
  const Tensor b_zero =
      per_column ? random_integers<int8_t>({n}, 4, 100, 127) : tensor<int8_t>({}, {127});
  std::vector<int32_t> expected;
  const auto at = [](const auto& list, int64_t i) {
    return int32_t{list[static_cast<std::size_t>(i) % list.size()]};
  };
  const auto av = values_of<uint8_t>(a);
  const auto bv = values_of<int8_t>(b);
  const auto az = values_of<uint8_t>(a_zero);
  const auto bz = values_of<int8_t>(b_zero);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += (at(av, i * k + p) - at(az, i)) * (at(bv, p * n + j) - at(bz, j));
      }
      expected.push_back(sum);
    }
  }
  const std::vector<Tensor> wanted = {tensor<int32_t>({m, n}, expected)};
  EXPECT_THAT(run_node("MatMulInteger", 10, {a, b, a_zero, b_zero}), Gives(wanted));
  SingleNodeGraph constant("MatMulInteger", 10);
  constant.input(a).constant(b).input(a_zero).constant(b_zero).output();
  EXPECT_THAT(cpu_session().run(constant), Gives(wanted));
}

INSTANTIATE_TEST_SUITE_P(Shapes, IntegerProducts,
                         ::testing::Values(Sizes{3, 5, 4, false, false},
                                           Sizes{7, 1500, 9, false, false},
                                           Sizes{4, 700, 3, true, true},
                                           Sizes{1, 3000, 17, false, true},
                                           Sizes{5, 1, 1, true, false}));

TEST(MatMulInteger, BroadcastsItsBatches) {
  const Tensor a = tensor<uint8_t>({2, 1, 1, 2}, {1, 2, 3, 4});
  const Tensor b = tensor<uint8_t>({3, 2, 1}, {1, 1, 2, 2, 3, 3});
  EXPECT_THAT(run_node("MatMulInteger", 10, {a, b}),
              Gives(std::vector{tensor<int32_t>({2, 3, 1, 1}, {3, 6, 9, 7, 14, 21})}));
  EXPECT_THAT(
      run_node("MatMulInteger", 10, {tensor<uint8_t>({2, 0}, {}), tensor<uint8_t>({0, 1}, {})}),
      Gives(std::vector{tensor<int32_t>({2, 1}, {0, 0})}));
  EXPECT_THAT(run_node("MatMulInteger", 10, {a, b, tensor<uint8_t>({5}, {0, 0, 0, 0, 0})}),
              Refuses(EPH_INVALID_ARGUMENT, "zero points of shape [5] do not match"));
}

struct ConvCase {
  Shape x, weights;
  int64_t group;
  std::vector<int64_t> pads, strides;
};
class IntegerConvolutions : public ::testing::TestWithParam<ConvCase> {};

// One or two spatial dimensions, the first of extent 1 if there is one.
TEST_P(IntegerConvolutions, AreExact) {
  const ConvCase& test = GetParam();
  const Tensor x = random_integers<uint8_t>(test.x, 1, 230, 255);
  const Tensor w = random_integers<int8_t>(test.weights, 2, -128, -110);
  const int64_t outputs = test.weights[0];
  const Tensor w_zero = random_integers<int8_t>({outputs}, 3, 0, 3);
  const int64_t per_group = outputs / test.group;
  const int64_t kernel = test.weights[2];
  const int64_t length = (test.x[2] + 2 * test.pads[0] - kernel) / test.strides[0] + 1;
  std::vector<int32_t> expected;
  for (int64_t b = 0; b < test.x[0]; ++b) {
    for (int64_t m = 0; m < outputs; ++m) {
      for (int64_t o = 0; o < length; ++o) {
        int32_t sum = 0;
        for (int64_t c = 0; c < test.weights[1]; ++c) {
          for (int64_t t = 0; t < kernel; ++t) {
            const int64_t i = o * test.strides[0] + t - test.pads[0];
            if (i < 0 || i >= test.x[2]) continue;
            const int64_t channel = m / per_group * test.weights[1] + c;
            const auto xi = static_cast<std::size_t>((b * test.x[1] + channel) * test.x[2] + i);
            const auto wi = static_cast<std::size_t>((m * test.weights[1] + c) * kernel + t);
            sum +=
                (values_of<uint8_t>(x)[xi] - 5) *
                (values_of<int8_t>(w)[wi] - values_of<int8_t>(w_zero)[static_cast<std::size_t>(m)]);
          }
        }
        expected.push_back(sum);
      }
    }
  }
  EXPECT_THAT(run_node("ConvInteger", 10, {x, w, tensor<uint8_t>({}, {5}), w_zero},
                       {{"group", test.group}, {"pads", test.pads}, {"strides", test.strides}}),
              Gives(std::vector{tensor<int32_t>({test.x[0], outputs, length}, expected)}));
}

INSTANTIATE_TEST_SUITE_P(Shapes, IntegerConvolutions,
                         ::testing::Values(ConvCase{{1, 1, 9}, {1, 1, 3}, 1, {0, 0}, {1}},
                                           ConvCase{{2, 300, 6}, {4, 300, 3}, 1, {1, 1}, {2}},
                                           ConvCase{{1, 8, 5}, {8, 1, 3}, 8, {1, 1}, {1}},
                                           ConvCase{{2, 400, 3}, {2, 200, 2}, 2, {0, 0}, {1}}));

// Numbers of channels for which oneDNN 3.7 makes no convolution of its own choice.
TEST(ConvInteger, OfOneElementAndManyChannels) {
  constexpr int64_t kInputs = 512, kOutputs = 1024, kPixels = 4;
  const Tensor x = random_integers<uint8_t>({1, kInputs, 2, 2}, 1, 0, 255);
  const Tensor w = random_integers<int8_t>({kOutputs, kInputs, 1, 1}, 2, -128, 127);
  std::vector<int32_t> sums;
  std::vector<float> float_sums;
  for (int64_t o = 0; o < kOutputs; ++o) {
    for (int64_t pixel = 0; pixel < kPixels; ++pixel) {
      int32_t sum = 0;
      for (int64_t i = 0; i < kInputs; ++i) {
        sum += static_cast<uint8_t>(x.bytes[static_cast<std::size_t>(i * kPixels + pixel)]) *
               static_cast<int8_t>(w.bytes[static_cast<std::size_t>(o * kInputs + i)]);
      }
      sums.push_back(sum);
      float_sums.push_back(static_cast<float>(sum));
    }
  }
  EXPECT_THAT(run_node("ConvInteger", 10, {x, w}),
              Gives(std::vector{tensor<int32_t>({1, kOutputs, 2, 2}, sums)}));
  // Floats whose sums are exact.
  std::vector<float> x_floats, w_floats;
  for (const char byte : x.bytes) x_floats.push_back(static_cast<uint8_t>(byte));
  for (const char byte : w.bytes) w_floats.push_back(static_cast<int8_t>(byte));
  EXPECT_THAT(
      run_node("Conv", 11,
               {floats({1, kInputs, 2, 2}, x_floats), floats({kOutputs, kInputs, 1, 1}, w_floats)}),
      Gives(std::vector{floats({1, kOutputs, 2, 2}, float_sums)}));
}

TEST(QLinearConv, ScalesEachOutputChannel) {
  const Tensor x = tensor<uint8_t>({1, 1, 1, 3}, {10, 20, 30});
  const Tensor w = tensor<int8_t>({2, 1, 1, 1}, {2, -4});
  const Tensor one = floats({}, {1});
  const Tensor x_zero = tensor<uint8_t>({}, {0});
  const std::vector<Tensor> inputs = {x,
                                      one,
                                      x_zero,
                                      w,
                                      floats({2}, {0.5F, 0.25F}),
                                      tensor<int8_t>({2}, {0, 0}),
                                      floats({}, {2}),
                                      tensor<uint8_t>({}, {100}),
                                      tensor<int32_t>({2}, {6, 0})};
  // (2 x + 6) / 4 + 100 and -4 x / 8 + 100, rounded to even.
  EXPECT_THAT(run_node("QLinearConv", 10, inputs),
              Gives(std::vector{tensor<uint8_t>({1, 2, 1, 3}, {106, 112, 116, 95, 90, 85})}));
}

TEST(QLinearMatMul, ScalesRowsAndColumns) {
  const Tensor a = tensor<uint8_t>({2, 1}, {10, 20});
  const Tensor b = tensor<uint8_t>({1, 2}, {3, 5});
  const Tensor a_zero = tensor<uint8_t>({2}, {0, 10});
  const Tensor b_zero = tensor<uint8_t>({2}, {1, 0});
  const std::vector<Tensor> inputs = {a,
                                      floats({2}, {1, 2}),
                                      a_zero,
                                      b,
                                      floats({2}, {0.5F, 1}),
                                      b_zero,
                                      floats({}, {2}),
                                      tensor<int8_t>({}, {-5})};
  // 10 * 2 * 0.5 / 2 - 5, 10 * 5 * 1 / 2 - 5, 10 * 2 * 2 * 0.5 / 2 - 5, 10 * 5 * 2 / 2 - 5
  EXPECT_THAT(run_node("QLinearMatMul", 10, inputs),
              Gives(std::vector{tensor<int8_t>({2, 2}, {0, 20, 5, 45})}));
}

}  // namespace
}  // namespace ephost::test::quantization_test
