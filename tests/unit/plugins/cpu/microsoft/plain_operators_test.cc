// Operators of com.microsoft that are small, or that another kernel computes for the most part,
// against plain loops in double.
#include <algorithm>
#include <cmath>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/microsoft/attention/plain_attention.h"

namespace ephost::test::plain_operators_test {
namespace {

using Numbers = std::vector<double>;

TEST(QLinearWhere, TakesBytesOfEitherTensor) {
  const Tensor condition = bools({2, 1}, {1, 0});
  const Tensor x = tensor<uint8_t>({3}, {0, 10, 255});
  const Tensor y = tensor<uint8_t>({1, 3}, {4, 5, 255});
  // X is 0.5 * (x - 10), Y is y - 4, Z is quantised with scale 1 and zero point 20.
  EXPECT_EQ(run_microsoft_one("QLinearWhere",
                              {condition, x, scalar(0.5F), scalar_of<uint8_t>(10), y, scalar(1),
                               scalar_of<uint8_t>(4), scalar(1), scalar_of<uint8_t>(20)})
                .bytes,
            tensor<uint8_t>({2, 3}, {15, 20, 142, 20, 21, 255}).bytes);
  const Tensor signed_x = tensor<int8_t>({1}, {-128});
  EXPECT_EQ(
      run_microsoft_one("QLinearWhere",
                        {bools({1}, {1}), signed_x, scalar(2), scalar_of<int8_t>(-100), signed_x,
                         scalar(1), scalar_of<int8_t>(0), scalar(1), scalar_of<int8_t>(5)})
          .bytes,
      tensor<int8_t>({1}, {-51}).bytes);
}

TEST(QLinearReduceMean, AveragesAlongAxes) {
  const Tensor x = random_bytes<uint8_t>({2, 3, 4}, 1);
  const auto bytes = values_of<uint8_t>(x);
  for (const int64_t keeps : {0, 1}) {
    const Tensor y = run_microsoft_one(
        "QLinearReduceMean",
        {x, scalar(0.5F), scalar_of<uint8_t>(100), scalar(0.25F), scalar_of<uint8_t>(128)},
        {{"axes", Shape{0, -1}}, {"keepdims", keeps}});
    EXPECT_EQ(y.shape, keeps != 0 ? (Shape{1, 3, 1}) : Shape{3});
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < 8; ++i) sum += 0.5 * (bytes[(i / 4 * 3 + c) * 4 + i % 4] - 100);
      const double place = std::clamp(sum / 8 / 0.25 + 128, 0.0, 255.0);
      EXPECT_NEAR(values_of<uint8_t>(y)[c], place, 0.5 + 1e-4);
    }
  }
}

TEST(Inverse, TimesTheMatrixIsOne) {
  const Tensor x = random_floats({2, 5, 5}, 1);
  const Tensor y = run_microsoft_one("Inverse", {x});
  const Numbers a = as_doubles(x);
  const Numbers b = as_doubles(y);
  for (std::size_t m = 0; m < 2; ++m) {
    for (std::size_t i = 0; i < 25; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 5; ++k) {
        sum += a[m * 25 + i / 5 * 5 + k] * b[m * 25 + k * 5 + i % 5];
      }
      EXPECT_NEAR(sum, i % 6 == 0 ? 1 : 0, 1e-4);
    }
  }
  // The first pivot must come from another row.
  EXPECT_EQ(difference(run_microsoft_one("Inverse", {floats({2, 2}, {0, 2, 4, 0})}),
                       floats({2, 2}, {0, 0.25F, 0.5F, 0})),
            "");
  EXPECT_THAT(run_unchecked("Inverse", {floats({2, 3}, {1, 2, 3, 4, 5, 6})}),
              Refuses(EPH_INVALID_ARGUMENT, "square"));
}

TEST(MicrosoftTrilu, KeepsATriangle) {
  const Tensor x = tensor<int64_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_microsoft_one("Trilu", {x, scalar_of<int64_t>(1)}).bytes,
            tensor<int64_t>({2, 3}, {0, 2, 3, 0, 0, 6}).bytes);
  EXPECT_EQ(run_microsoft_one("Trilu", {x}, {{"upper", int64_t{0}}}).bytes,
            tensor<int64_t>({2, 3}, {1, 0, 0, 4, 5, 0}).bytes);
}

TEST(MicrosoftGridSample, IsThatOfOnnx) {
  const Tensor x = random_floats({1, 2, 4, 5}, 1);
  const Tensor grid = random_floats({1, 3, 2, 2}, 2, -1.5F, 1.5F);
  for (const char* mode : {"bilinear", "nearest", "bicubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      const Attributes attributes = {{"mode", std::string(mode)},
                                     {"padding_mode", std::string(padding)},
                                     {"align_corners", int64_t{1}}};
      EXPECT_EQ(difference(run_microsoft_one("GridSample", {x, grid}, attributes),
                           run_one("GridSample", 16, {x, grid}, attributes)),
                "");
    }
  }
}

TEST(GroupNorm, NormalisesGroupsOfChannels) {
  const Tensor x = random_floats({2, 6, 3, 2}, 1);  // channels first
  const Tensor gamma = random_floats({6}, 2);
  const Tensor beta = random_floats({6}, 3);
  const Numbers from = as_doubles(x);
  for (const int64_t activation : {0, 1}) {
    Numbers y(from.size());
    for (std::size_t g = 0; g < 6; ++g) {  // images by three groups of two channels
      const std::size_t first = g * 12;
      double mean = 0;
      for (std::size_t i = 0; i < 12; ++i) mean += from[first + i] / 12;
      double variance = 0;
      for (std::size_t i = 0; i < 12; ++i) variance += std::pow(from[first + i] - mean, 2) / 12;
      for (std::size_t i = 0; i < 12; ++i) {
        const std::size_t channel = g % 3 * 2 + i / 6;
        const double normal = (from[first + i] - mean) / std::sqrt(variance + 0.01);
        const double value = normal * as_doubles(gamma)[channel] + as_doubles(beta)[channel];
        y[first + i] = activation == 1 ? value / (1 + std::exp(-value)) : value;
      }
    }
    const Tensor expected = from_doubles(x.shape, y);
    const auto run = [&](const Tensor& image, int64_t channels_last) {
      return run_microsoft_one("GroupNorm", {image, gamma, beta},
                               {{"activation", activation},
                                {"channels_last", channels_last},
                                {"epsilon", 0.01F},
                                {"groups", int64_t{3}}});
    };
    EXPECT_EQ(difference(run(x, 0), expected, 1e-4, 1e-5), "");
    EXPECT_EQ(
        difference(run(channels_last<float>(x), 1), channels_last<float>(expected), 1e-4, 1e-5),
        "");
  }
}

TEST(NhwcFusedConv, IsFusedConvWithTheChannelsLast) {
  const Tensor x = random_floats({2, 4, 5, 6}, 1);
  const Tensor w = random_floats({6, 2, 3, 2}, 2);
  const Tensor bias = random_floats({6}, 3);
  const Tensor z = random_floats({2, 6, 3, 5}, 4);
  const Attributes attributes = {{"group", int64_t{2}}, {"activation", std::string("Relu")}};
  EXPECT_EQ(
      difference(run_microsoft_one("NhwcFusedConv",
                                   {channels_last<float>(x), w, bias, channels_last<float>(z)},
                                   attributes),
                 channels_last<float>(run_microsoft_one("FusedConv", {x, w, bias, z}, attributes))),
      "");
}

// Each input adds its window to the output, of which pads are cut off.
TEST(ConvTransposeWithDynamicPads, CutsOffItsPads) {
  const Tensor x = random_floats({1, 1, 3, 4}, 1);
  const Tensor w = random_floats({1, 2, 2, 3}, 2);
  const Tensor bias = random_floats({2}, 3);
  Array whole = {1, 2, 6, 9};
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t i = 0; i < 12; ++i) {
      for (int64_t j = 0; j < 6; ++j) {
        whole.at(0, c, i / 4 * 2 + j / 3, i % 4 * 2 + j % 3) +=
            as_doubles(x)[static_cast<std::size_t>(i)] *
            as_doubles(w)[static_cast<std::size_t>(c * 6 + j)];
      }
    }
  }
  Array cut = {1, 2, 4, 6};
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t i = 0; i < 24; ++i) {
      cut.at(0, c, i / 6, i % 6) =
          whole.at(0, c, i / 6 + 1, i % 6 + 2) + as_doubles(bias)[static_cast<std::size_t>(c)];
    }
  }
  const Attributes attributes = {{"strides", Shape{2, 2}}};
  EXPECT_EQ(difference(run_microsoft_one("ConvTransposeWithDynamicPads",
                                         {x, w, ints({1, 2, 1, 1}), bias}, attributes),
                       to_tensor(cut), 1e-4, 1e-5),
            "");
  EXPECT_EQ(difference(run_microsoft_one("ConvTransposeWithDynamicPads", {x, w}, attributes),
                       to_tensor(whole), 1e-4, 1e-5),
            "");
  EXPECT_THAT(run_unchecked("ConvTransposeWithDynamicPads", {x, w, ints({4, 0, 3, 0})}, attributes),
              Refuses(EPH_INVALID_ARGUMENT, "pads"));
}

// What bytes stand for: one scale and zero point, or one for each column.
template <class T>
Tensor decode(const Tensor& codes, const std::vector<float>& scales,
              const std::vector<int>& zeros) {
  std::vector<float> numbers;
  const std::vector<T> bytes = values_of<T>(codes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t at = scales.size() == 1 ? 0 : i % scales.size();
    numbers.push_back(scales[at] * static_cast<float>(bytes[i] - zeros[at]));
  }
  return floats(codes.shape, numbers);
}

TEST(QAttention, IsAttentionOfWhatTheBytesStandFor) {
  const Tensor x = random_bytes<uint8_t>({2, 3, 5}, 1);
  const Tensor w = random_bytes<int8_t>({5, 24}, 2);
  const Tensor bias = random_floats({24}, 3);
  const Tensor mask = tensor<int32_t>({2, 5}, {1, 1, 0, 1, 1, 1, 1, 1, 1, 0});
  const Tensor past = random_floats({2, 2, 2, 2, 4}, 4);
  std::vector<float> scales;
  std::vector<int> zeros;
  std::vector<int8_t> zero_bytes;
  for (int i = 0; i < 24; ++i) {
    scales.push_back(0.001F * static_cast<float>(i + 1));
    zeros.push_back(i - 12);
    zero_bytes.push_back(static_cast<int8_t>(i - 12));
  }
  const Attributes attributes = {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}};
  const Outcome actual =
      run_microsoft("QAttention",
                    {x, w, bias, scalar(0.01F), floats({24}, scales), mask, scalar_of<uint8_t>(120),
                     tensor<int8_t>({24}, zero_bytes), past},
                    attributes, 2);
  const Outcome expected = run_microsoft(
      "Attention",
      {decode<uint8_t>(x, {0.01F}, {120}), decode<int8_t>(w, scales, zeros), bias, mask, past},
      attributes, 2);
  ASSERT_THAT(actual, IsOk());
  ASSERT_THAT(expected, IsOk());
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(difference(actual.outputs[i], expected.outputs[i], 1e-4, 1e-5), "") << i;
  }
}

// Rounded to bytes as DynamicQuantizeLinear does, and back.
Numbers through_bytes(const Numbers& x) {
  const double low = std::min(0.0, *std::min_element(x.begin(), x.end()));
  const double high = std::max(0.0, *std::max_element(x.begin(), x.end()));
  const double scale = high > low ? (high - low) / 255 : 1;
  const double zero = std::nearbyint(std::clamp(-low / scale, 0.0, 255.0));
  Numbers y;
  for (const double value : x) {
    const double byte = std::clamp(std::nearbyint(value / scale) + zero, 0.0, 255.0);
    y.push_back((byte - zero) * scale);
  }
  return y;
}

// One sequence of 4 steps with 3 numbers each, 2 hidden.
TEST(DynamicQuantizeLstm, RoundsXAndTheStateToBytes) {
  const Tensor x = random_floats({4, 1, 3}, 1);
  const Tensor w = random_bytes<int8_t>({1, 3, 8}, 2);
  const Tensor r = random_bytes<int8_t>({1, 2, 8}, 3);
  const Tensor bias = random_floats({1, 16}, 4);
  const Numbers xs = through_bytes(as_doubles(x));
  const Numbers ws = as_doubles(decode<int8_t>(w, {0.01F}, {3}));
  const Numbers rs = as_doubles(decode<int8_t>(r, {0.02F}, {-5}));
  const Numbers bs = as_doubles(bias);
  const auto sigmoid = [](double value) { return 1 / (1 + std::exp(-value)); };
  Numbers h(2);
  Numbers c(2);
  Numbers y;
  for (std::size_t t = 0; t < 4; ++t) {
    const Numbers before = through_bytes(h);
    Numbers sums(8);
    for (std::size_t i = 0; i < 8; ++i) {
      sums[i] = bs[i] + bs[i + 8];
      for (std::size_t k = 0; k < 3; ++k) sums[i] += xs[t * 3 + k] * ws[k * 8 + i];
      for (std::size_t k = 0; k < 2; ++k) sums[i] += before[k] * rs[k * 8 + i];
    }
    for (std::size_t i = 0; i < 2; ++i) {  // gates i, o, f, c
      c[i] = sigmoid(sums[4 + i]) * c[i] + sigmoid(sums[i]) * std::tanh(sums[6 + i]);
      h[i] = sigmoid(sums[2 + i]) * std::tanh(c[i]);
      y.push_back(h[i]);
    }
  }
  const Outcome outcome = run_microsoft(
      "DynamicQuantizeLSTM",
      {x, w, r, bias, std::nullopt, std::nullopt, std::nullopt, std::nullopt, floats({1}, {0.01F}),
       tensor<int8_t>({1}, {3}), floats({1}, {0.02F}), tensor<int8_t>({1}, {-5})},
      {{"hidden_size", int64_t{2}}}, 3);
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(difference(outcome.outputs[0], from_doubles({4, 1, 1, 2}, y), 1e-4, 1e-5), "");
  EXPECT_EQ(difference(outcome.outputs[1], from_doubles({1, 1, 2}, h), 1e-4, 1e-5), "");
  EXPECT_EQ(difference(outcome.outputs[2], from_doubles({1, 1, 2}, c), 1e-4, 1e-5), "");
}

}  // namespace
}  // namespace ephost::test::plain_operators_test
