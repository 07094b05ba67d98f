// Each fused operator gives what the operators that it stands for give, and becomes one partition
// with a matrix product in front, without which the provider claims nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test::lower_microsoft_test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }
double gelu_tanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

Array sum(const Array& a, const Array& b) {
  return combine(a, b, [](double x, double y) { return x + y; });
}

// An activation of FusedConv or FusedGemm with its parameters, and its definition.
struct Activation {
  friend void PrintTo(const Activation& activation, std::ostream* out) { *out << activation.name; }
  std::string name;
  Floats parameters;
  Unary function;
};

std::vector<Activation> activations() {
  return {
      {"Relu", {}, [](double x) { return x < 0 ? 0 : x; }},
      {"LeakyRelu", {0.25F}, [](double x) { return x < 0 ? x / 4 : x; }},
      {"Sigmoid", {}, &sigmoid},
      {"Tanh", {}, [](double x) { return std::tanh(x); }},
      {"Clip", {-0.25F, 0.5F}, [](double x) { return std::clamp(x, -0.25, 0.5); }},
      {"HardSigmoid", {0.5F, 0.25F}, [](double x) { return std::clamp(x / 2 + 0.25, 0., 1.); }}};
}

std::string names_of(const ::testing::TestParamInfo<Activation>& info) { return info.param.name; }

class LowerActivation : public ::testing::TestWithParam<Activation> {};
INSTANTIATE_TEST_SUITE_P(Each, LowerActivation, ::testing::ValuesIn(activations()), &names_of);

TEST_P(LowerActivation, OfAFusedConvolutionWithASum) {
  Net net, plain;
  for (Net* each : {&net, &plain}) {
    each->input({1, 3, 8, 8});
    each->weights({4, 3, 3, 3});
    each->weights({4});
    each->input({1, 4, 6, 6});
  }
  const Array conv = plain.value(plain.add("Conv", {0, 1, 2}));
  const FakeAttributes attributes = {{"activation", GetParam().name},
                                     {"activation_params", GetParam().parameters}};
  net.output(net.add_known("FusedConv", {0, 1, 2, 3}, attributes,
                           {map(sum(conv, plain.value(3)), GetParam().function)})[0]);
  expect_one_partition(net);
}

TEST_P(LowerActivation, OfAFusedGemm) {
  if (GetParam().name == "Clip") GTEST_SKIP() << "FusedGemm has no attributes for its bounds";
  Net net, plain;
  for (Net* each : {&net, &plain}) {
    each->input({5, 7});
    each->weights({6, 7});
    each->weights({6});
  }
  FakeAttributes attributes = {{"transB", int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}};
  const Array gemm = plain.value(plain.add("Gemm", {0, 1, 2}, attributes));
  attributes["activation"] = GetParam().name;
  const Floats& parameters = GetParam().parameters;
  if (!parameters.empty()) attributes["activation_alpha"] = parameters[0];
  if (parameters.size() > 1) attributes["activation_beta"] = parameters[1];
  net.output(
      net.add_known("FusedGemm", {0, 1, 2}, attributes, {map(gemm, GetParam().function)})[0]);
  expect_one_partition(net);
}

TEST(LowerMicrosoft, ComputesFusedMatMulOfTransposedMatrices) {
  for (const bool a_is_transposed : {false, true}) {
    for (const bool b_is_transposed : {false, true}) {
      Net net, plain;
      for (Net* each : {&net, &plain}) {
        each->input(a_is_transposed ? Shape{2, 3, 6, 5} : Shape{2, 3, 5, 6});
        each->input(b_is_transposed ? Shape{3, 4, 6} : Shape{3, 6, 4});
      }
      const FakeAttributes last_two = {{"perm", Ints{0, 1, 3, 2}}},
                           of_three = {{"perm", Ints{0, 2, 1}}};
      const uint32_t a = a_is_transposed ? plain.add("Transpose", {0}, last_two) : 0;
      const uint32_t b = b_is_transposed ? plain.add("Transpose", {1}, of_three) : 1;
      const Array product = plain.value(plain.add("MatMul", {a, b}));
      const FakeAttributes attributes = {{"transA", int64_t{a_is_transposed}},
                                         {"transB", int64_t{b_is_transposed}},
                                         {"alpha", 0.125F}};
      net.output(net.add_known("FusedMatMul", {0, 1}, attributes,
                               {map(product, [](double x) { return x / 8; })})[0]);
      expect_one_partition(net);
    }
  }
}

TEST(LowerMicrosoft, DeclinesFusedMatMulWhoseBatchIsTransposed) {
  Net net;
  const uint32_t a = net.input({4, 3, 5}), b = net.input({3, 5, 2});
  net.output(net.add_known("FusedMatMul", {a, b}, {{"transBatchA", int64_t{1}}},
                           {{{3, 4, 2}, std::vector<double>(24)}})[0]);
  ProviderSession session;
  const FakeClaims claims = session.claims(net.graph());
  EXPECT_TRUE(claims.fused.empty());
  ASSERT_EQ(claims.declined.size(), 1U);
  EXPECT_EQ(claims.declined.begin()->second, "transBatchA is set");
}

TEST(LowerMicrosoft, ComputesEachGelu) {
  struct Case {
    std::string op_type;
    bool has_bias;
    Unary function;
  };
  const std::vector<Case> cases = {
      {"Gelu", false, &gelu},
      {"BiasGelu", true, &gelu},
      {"FastGelu", false, &gelu_tanh},
      {"FastGelu", true, &gelu_tanh},
      {"QuickGelu", false, [](double x) { return x * sigmoid(1.702 * x); }}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.op_type + (each.has_bias ? " with a bias" : ""));
    Net net;
    const uint32_t x = net.linear(net.input({3, 6}), 8), bias = net.weights({8});
    std::vector<uint32_t> inputs = {x};
    if (each.has_bias) inputs.push_back(bias);
    const Array operand = each.has_bias ? sum(net.value(x), net.value(bias)) : net.value(x);
    net.output(net.add_known(each.op_type, inputs, {}, {map(operand, each.function)})[0]);
    expect_one_partition(net);
  }
}

TEST(LowerMicrosoft, ComputesGeluOfOperatorSet20) {
  for (const std::string approximation : {"none", "tanh"}) {
    Net net;
    const uint32_t x = net.linear(net.input({3, 6}), 8);
    const Array expected = map(net.value(x), approximation == "none" ? &gelu : &gelu_tanh);
    const std::vector<uint32_t> outputs =
        net.add_known("Gelu", {x}, {{"approximate", approximation}}, {expected}, "", 20);
    net.output(outputs[0]);
    expect_one_partition(net);
  }
}

TEST(LowerMicrosoft, NormalizesASumAndGivesItToOthers) {
  Net net, plain;
  uint32_t product = 0;
  for (Net* each : {&net, &plain}) {
    product = each->linear(each->input({2, 3, 6}), 8);
    each->input({2, 3, 8});
    each->weights({8}, 0.5, 1.5);
    each->weights({8});
    each->weights({8});
  }
  const uint32_t skip = product + 1, gamma = skip + 1, beta = gamma + 1, bias = beta + 1;
  const uint32_t total = plain.add("Add", {plain.add("Add", {product, skip}), bias});
  const uint32_t expected =
      plain.add("LayerNormalization", {total, gamma, beta}, {{"epsilon", 1e-5F}});
  const std::vector<uint32_t> outputs =
      net.add_known("SkipLayerNormalization", {product, skip, gamma, beta, bias},
                    {{"epsilon", 1e-5F}}, {plain.value(expected), {}, {}, plain.value(total)});
  net.output(outputs[0]);
  net.output(outputs[3]);
  expect_one_partition(net);
}

}  // namespace
}  // namespace ephost::test::lower_microsoft_test
