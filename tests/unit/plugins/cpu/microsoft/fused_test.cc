// Fused convolutions, convolutions and pools with the channels last, Gelu and normalisations of
// sums, against plain loops in double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/microsoft/microsoft_node.h"

namespace ephost::test::fused_test {
namespace {

// ---- Convolutions -------------------------------------------------------------------------------

// X [2, 4, 5, 6], W [6, 2, 3, 2] in two groups, strides 2 and 1, one row above, one column right.
struct SmallConv {
  Tensor x = random_floats({2, 4, 5, 6}, 1);
  Tensor w = random_floats({6, 2, 3, 2}, 2);
  Tensor bias = random_floats({6}, 3);
  Attributes attributes = {{"group", int64_t{2}},
                           {"strides", std::vector<int64_t>{2, 1}},
                           {"pads", std::vector<int64_t>{1, 0, 0, 1}}};
  Shape y_shape = {2, 6, 2, 6};

  [[nodiscard]] std::vector<double> compute() const {
    const std::vector<double> xs = as_doubles(x);
    const std::vector<double> ws = as_doubles(w);
    std::vector<double> y;
    for (int64_t n = 0; n < 2; ++n) {
      for (int64_t o = 0; o < 6; ++o) {
        for (int64_t r = 0; r < 2; ++r) {
          for (int64_t s = 0; s < 6; ++s) {
            double sum = as_doubles(bias)[static_cast<std::size_t>(o)];
            for (int64_t c = 0; c < 2; ++c) {
              for (int64_t i = 0; i < 3; ++i) {
                for (int64_t j = 0; j < 2; ++j) {
                  const int64_t row = r * 2 - 1 + i;
                  const int64_t column = s + j;
                  if (row < 0 || row >= 5 || column >= 6) continue;
                  const int64_t channel = o / 3 * 2 + c;
                  const int64_t from = ((n * 4 + channel) * 5 + row) * 6 + column;
                  const int64_t weight = ((o * 2 + c) * 3 + i) * 2 + j;
                  sum += xs[static_cast<std::size_t>(from)] * ws[static_cast<std::size_t>(weight)];
                }
              }
            }
            y.push_back(sum);
          }
        }
      }
    }
    return y;
  }
};

TEST(FusedConv, AddsZAndThenActivates) {
  const SmallConv conv;
  const Tensor z = random_floats(conv.y_shape, 4);
  const auto expect = [&](const Attributes& extra, double (*f)(double)) {
    Attributes attributes = conv.attributes;
    attributes.insert(attributes.end(), extra.begin(), extra.end());
    for (const bool has_z : {true, false}) {
      std::vector<double> expected = conv.compute();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] = f(expected[i] + (has_z ? as_doubles(z)[i] : 0));
      }
      Arguments inputs = {conv.x, conv.w, conv.bias};
      if (has_z) inputs.push_back(z);
      EXPECT_EQ(difference(run_microsoft_one("FusedConv", inputs, attributes),
                           from_doubles(conv.y_shape, expected), 1e-4, 1e-5),
                "");
    }
  };
  using Numbers = std::vector<float>;
  expect({}, [](double x) { return x; });
  expect({{"activation", "Relu"}}, [](double x) { return std::max(x, 0.0); });
  expect({{"activation", "Clip"}, {"activation_params", Numbers{-0.5F, 0.25F}}},
         [](double x) { return std::clamp(x, -0.5, 0.25); });
  expect({{"activation", "LeakyRelu"}, {"activation_params", Numbers{0.1F}}},
         [](double x) { return x < 0 ? 0.1 * x : x; });
  expect({{"activation", "Sigmoid"}}, [](double x) { return 1 / (1 + std::exp(-x)); });
  expect({{"activation", "Tanh"}}, [](double x) { return std::tanh(x); });
  expect({{"activation", "HardSigmoid"}, {"activation_params", Numbers{0.2F, 0.5F}}},
         [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); });
}

TEST(FusedConv, KeepsNaN) {
  const Tensor x = floats({1, 1, 2}, {NAN, -1});
  const Tensor w = floats({1, 1, 1}, {1});
  for (const char* name : {"Relu", "Tanh", "Sigmoid"}) {
    const Tensor y = run_microsoft_one("FusedConv", {x, w}, {{"activation", name}});
    EXPECT_TRUE(std::isnan(values_of<float>(y)[0])) << name;
  }
}

TEST(FusedConv, RefusesUnknownActivationsAndUnfittingParametersAndZ) {
  const Tensor x = floats({1, 1, 2}, {1, -1});
  const Tensor w = floats({1, 1, 1}, {1});
  EXPECT_THAT(run_microsoft("FusedConv", {x, w}, {{"activation", "Swish"}}),
              Refuses(EPH_NOT_IMPLEMENTED, "activation 'Swish' is not supported, but Relu, Clip"));
  EXPECT_THAT(run_microsoft("FusedConv", {x, w},
                            {{"activation", "Clip"}, {"activation_params", std::vector<float>{1}}}),
              Refuses(EPH_NOT_IMPLEMENTED, "'Clip' needs 2 activation_params, found 1"));
  const Arguments inputs = {x, w, std::nullopt, floats({1, 1, 1}, {1})};
  EXPECT_THAT(run_unchecked("FusedConv", inputs),
              Refuses(EPH_INVALID_ARGUMENT, "Z of shape [1,1,1] differs from Y"));
  EXPECT_EQ(infer_microsoft("FusedConv", inputs).code, EPH_INVALID_GRAPH);
}

TEST(NhwcConv, IsConvWithTheChannelsLast) {
  const SmallConv conv;
  const Tensor expected = channels_last<float>(from_doubles(conv.y_shape, conv.compute()));
  const Tensor y = run_microsoft_one("NhwcConv", {channels_last<float>(conv.x), conv.w, conv.bias},
                                     conv.attributes);
  EXPECT_EQ(difference(y, expected, 1e-4, 1e-5), "");
}

TEST(NhwcMaxPool, TakesTheLargestByteOfEachWindow) {
  const Tensor x = random_bytes<int8_t>({2, 3, 5, 6}, 5);
  const auto bytes = values_of<int8_t>(x);
  std::vector<int8_t> expected;
  for (int64_t p = 0; p < 6; ++p) {
    for (int64_t r = 0; r < 3; ++r) {
      for (int64_t s = 0; s < 3; ++s) {
        int8_t best = -128;
        for (int64_t i = 2 * r - 1; i < 2 * r + 2; ++i) {
          for (int64_t j = 2 * s; j < 2 * s + 2; ++j) {
            if (i < 0 || i >= 5) continue;
            best = std::max(best, bytes[static_cast<std::size_t>((p * 5 + i) * 6 + j)]);
          }
        }
        expected.push_back(best);
      }
    }
  }
  const Attributes attributes = {{"kernel_shape", std::vector<int64_t>{3, 2}},
                                 {"strides", std::vector<int64_t>{2, 2}},
                                 {"pads", std::vector<int64_t>{1, 0, 1, 0}}};
  EXPECT_THAT(run_microsoft("NhwcMaxPool", {channels_last<int8_t>(x)}, attributes),
              Gives(std::vector{channels_last<int8_t>(tensor<int8_t>({2, 3, 3, 3}, expected))}));
  EXPECT_THAT(run_unchecked("NhwcMaxPool", {tensor<uint8_t>({2, 2}, {1, 2, 3, 4})}, attributes),
              Refuses(EPH_INVALID_ARGUMENT, "has no spatial dimensions"));
}

// Windows of one element change nothing, while all channels go to the front and back.
TEST(NhwcMaxPool, MovesManyChannels) {
  for (const int64_t channels : {5, 16, 70, 200}) {
    const Tensor x = random_bytes<uint8_t>({2, 3, 101, channels}, 6);
    EXPECT_THAT(run_microsoft("NhwcMaxPool", {x}, {{"kernel_shape", std::vector<int64_t>{1, 1}}}),
                Gives(std::vector{x}));
  }
}

// ---- Gelu ---------------------------------------------------------------------------------------

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double fast_gelu(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

void expect_gelu(const std::string& op_type, bool has_bias, const Attributes& attributes,
                 const std::function<double(double)>& f) {
  const Tensor x = random_floats({3, 4, 50}, 6, -8, 8);
  const Tensor bias = random_floats({50}, 7, -2, 2);
  std::vector<double> expected = as_doubles(x);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = f(expected[i] + (has_bias ? as_doubles(bias)[i % 50] : 0));
  }
  Arguments inputs = {x};
  if (has_bias) inputs.push_back(bias);
  EXPECT_EQ(difference(run_microsoft_one(op_type, inputs, attributes),
                       from_doubles(x.shape, expected), 1e-5, 1e-6),
            "");
  for (auto& input : inputs) input = to_double_tensor(*input);
  EXPECT_EQ(difference(run_microsoft_one(op_type, inputs, attributes),
                       tensor<double>(x.shape, expected), 1e-6, 1e-7),
            "");
}

TEST(Gelu, ComesInFourForms) {
  expect_gelu("Gelu", false, {}, &gelu);
  expect_gelu("BiasGelu", true, {}, &gelu);
  expect_gelu("FastGelu", false, {}, &fast_gelu);
  expect_gelu("FastGelu", true, {}, &fast_gelu);
  expect_gelu("QuickGelu", false, {}, [](double x) { return x / (1 + std::exp(-1.702 * x)); });
  expect_gelu("QuickGelu", false, {{"alpha", 0.5F}},
              [](double x) { return x / (1 + std::exp(-0.5 * x)); });
}

TEST(BiasGelu, RefusesABiasOfAnotherSize) {
  const Arguments inputs = {floats({2, 2}, {1, 2, 3, 4}), floats({3}, {1, 2, 3})};
  EXPECT_THAT(run_unchecked("BiasGelu", inputs),
              Refuses(EPH_INVALID_ARGUMENT, "the bias of shape [3] does not have"));
  EXPECT_EQ(infer_microsoft("BiasGelu", inputs).code, EPH_INVALID_GRAPH);
}

// ---- Normalisation of sums ----------------------------------------------------------------------

struct Normalized {
  std::vector<double> y, means, deviations;
};

Normalized normalize(const std::vector<double>& x, std::size_t extent, bool subtracts,
                     double epsilon, const std::vector<double>& gamma,
                     const std::vector<double>& beta) {
  Normalized result;
  for (std::size_t r = 0; r < x.size() / extent; ++r) {
    double mean = 0;
    for (std::size_t i = 0; subtracts && i < extent; ++i) mean += x[r * extent + i];
    mean /= static_cast<double>(extent);
    double squares = 0;
    for (std::size_t i = 0; i < extent; ++i) squares += std::pow(x[r * extent + i] - mean, 2);
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(extent) + epsilon);
    result.means.push_back(mean);
    result.deviations.push_back(inverse);
    for (std::size_t i = 0; i < extent; ++i) {
      result.y.push_back((x[r * extent + i] - mean) * inverse * gamma[i] +
                         (beta.empty() ? 0 : beta[i]));
    }
  }
  return result;
}

TEST(SkipNormalizations, NormalizeTheSum) {
  const Shape shape = {2, 3, 40};
  const Tensor x = random_floats(shape, 8);
  const Tensor gamma = random_floats({40}, 9, 0.5F, 2);
  const Tensor beta = random_floats({40}, 10);
  const Tensor bias = random_floats({40}, 11);
  for (const Shape& skip_shape : {Shape{2, 3, 40}, Shape{1, 3, 40}, Shape{3, 40}}) {
    const Tensor skip = random_floats(skip_shape, 12);
    for (const bool is_simplified : {false, true}) {
      for (const bool has_extras : {false, true}) {
        std::vector<double> sums = as_doubles(x);
        for (std::size_t i = 0; i < sums.size(); ++i) {
          sums[i] += as_doubles(skip)[i % as_doubles(skip).size()];
          if (has_extras) sums[i] += as_doubles(bias)[i % 40];
        }
        const bool has_beta = has_extras && !is_simplified;
        const Normalized expected = normalize(sums, 40, !is_simplified, 0.125, as_doubles(gamma),
                                              has_beta ? as_doubles(beta) : std::vector<double>());
        Arguments inputs = {x, skip, gamma};
        if (has_beta) inputs.push_back(beta);
        if (has_extras) inputs.push_back(bias);
        const Outcome outcome = run_microsoft(
            is_simplified ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization", inputs,
            {{"epsilon", 0.125F}}, 4);
        ASSERT_THAT(outcome, IsOk());
        EXPECT_EQ(difference(outcome.outputs[0], from_doubles(shape, expected.y), 1e-4, 1e-5), "");
        EXPECT_EQ(
            difference(outcome.outputs[1], from_doubles({2, 3, 1}, expected.means), 1e-4, 1e-5),
            "");
        EXPECT_EQ(difference(outcome.outputs[2], from_doubles({2, 3, 1}, expected.deviations), 1e-4,
                             1e-5),
                  "");
        EXPECT_EQ(difference(outcome.outputs[3], from_doubles(shape, sums), 1e-5, 1e-6), "");
      }
    }
  }
}

TEST(SkipNormalizations, RefuseUnfittingInputs) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  const Tensor gamma = floats({2}, {1, 1});
  EXPECT_THAT(run_unchecked("SkipLayerNormalization", {x, floats({2}, {1, 2}), gamma}),
              Refuses(EPH_INVALID_ARGUMENT, "the skip of shape [2] does not fit"));
  EXPECT_THAT(run_unchecked("SkipLayerNormalization", {x, x, floats({3}, {1, 2, 3})}),
              Refuses(EPH_INVALID_ARGUMENT, "'gamma'"));
  EXPECT_THAT(run_unchecked("SkipSimplifiedLayerNormalization", {x, x, gamma, floats({1}, {1})}),
              Refuses(EPH_INVALID_ARGUMENT, "'bias'"));
}

TEST(SimplifiedLayerNormalization, IsRmsNormalizationWithAStatistic) {
  const Tensor x = random_floats({2, 3, 40}, 13);
  const Tensor scale = random_floats({40}, 14, 0.5F, 2);
  const Normalized expected = normalize(as_doubles(x), 40, false, 0.125, as_doubles(scale), {});
  const Outcome outcome =
      run_node("SimplifiedLayerNormalization", 1, {x, scale}, {{"epsilon", 0.125F}}, 2);
  EXPECT_EQ(difference(outcome.outputs[0], from_doubles(x.shape, expected.y), 1e-4, 1e-5), "");
  EXPECT_EQ(
      difference(outcome.outputs[1], from_doubles({2, 3, 1}, expected.deviations), 1e-4, 1e-5), "");
}

struct Embeddings {
  Tensor ids = tensor<int32_t>({2, 3}, {0, 4, 2, 1, 1, 3});
  Tensor segments = tensor<int32_t>({2, 3}, {0, 0, 1, 1, 0, 1});
  Tensor words = random_floats({5, 8}, 15);
  Tensor positions = random_floats({4, 8}, 16);
  Tensor of_segments = random_floats({2, 8}, 17);
  Tensor gamma = random_floats({8}, 18, 0.5F, 2);
  Tensor beta = random_floats({8}, 19);
};

TEST(EmbedLayerNormalization, LooksUpAddsAndNormalizes) {
  const Embeddings e;
  const Tensor mask = tensor<int32_t>({2, 3}, {1, 1, 0, 1, 1, 1});
  for (const bool has_all : {true, false}) {
    const std::vector<int32_t> position_ids =
        has_all ? std::vector<int32_t>{3, 0, 1} : std::vector<int32_t>{0, 1, 2};
    std::vector<double> sums;
    for (std::size_t t = 0; t < 6; ++t) {
      for (std::size_t i = 0; i < 8; ++i) {
        const auto row = [&](const Tensor& table, int32_t id) {
          return as_doubles(table)[static_cast<std::size_t>(id) * 8 + i];
        };
        double sum = row(e.words, values_of<int32_t>(e.ids)[t]);
        sum += row(e.positions, position_ids[t % 3]);
        if (has_all) sum += row(e.of_segments, values_of<int32_t>(e.segments)[t]);
        sums.push_back(sum);
      }
    }
    const Normalized expected =
        normalize(sums, 8, true, 1e-12, as_doubles(e.gamma), as_doubles(e.beta));
    Arguments inputs = {e.ids, std::nullopt, e.words, e.positions, std::nullopt, e.gamma, e.beta};
    if (has_all) {
      inputs[1] = e.segments;
      inputs[4] = e.of_segments;
      inputs.push_back(mask);
      inputs.push_back(tensor<int32_t>({1, 3}, position_ids));
    }
    const Outcome outcome = run_microsoft("EmbedLayerNormalization", inputs, {}, 3);
    ASSERT_THAT(outcome, IsOk());
    EXPECT_EQ(difference(outcome.outputs[0], from_doubles({2, 3, 8}, expected.y), 1e-4, 1e-4), "");
    EXPECT_EQ(values_of<int32_t>(outcome.outputs[1]),
              (has_all ? std::vector<int32_t>{2, 3} : std::vector<int32_t>{0, 0}));
    EXPECT_EQ(difference(outcome.outputs[2], from_doubles({2, 3, 8}, sums), 1e-5, 1e-6), "");
  }
}

TEST(EmbedLayerNormalization, RefusesIdsOutOfRange) {
  const Embeddings e;
  for (const int32_t id : {-1, 5, INT32_MAX}) {
    EXPECT_THAT(run_unchecked("EmbedLayerNormalization",
                              {tensor<int32_t>({1, 1}, {id}), std::nullopt, e.words, e.positions,
                               std::nullopt, e.gamma, e.beta}),
                Refuses(EPH_INVALID_ARGUMENT, "is out of range for an embedding of 5 rows"));
  }
  EXPECT_THAT(run_unchecked("EmbedLayerNormalization",
                            {tensor<int32_t>({1, 5}, {0, 0, 0, 0, 0}), std::nullopt, e.words,
                             e.positions, std::nullopt, e.gamma, e.beta}),
              Refuses(EPH_INVALID_ARGUMENT, "need as many positions, found 4"));
  EXPECT_THAT(run_unchecked("EmbedLayerNormalization", {e.ids, e.segments, e.words, e.positions,
                                                        std::nullopt, e.gamma, e.beta}),
              Refuses(EPH_INVALID_ARGUMENT, "without segment_embedding"));
}

}  // namespace
}  // namespace ephost::test::fused_test
