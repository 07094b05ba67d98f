// MoE and SparseToDenseMatMul against plain loops in double.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/unit/plugins/cpu/microsoft/attention/plain_attention.h"

namespace ephost::test::moe_test {
namespace {

using Numbers = std::vector<double>;
using Matrix = std::vector<Numbers>;

constexpr int64_t kRows = 7, kHidden = 6, kInner = 5, kExperts = 4;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double activated(const std::string& name, double x) {
  if (name == "relu") return std::max(x, 0.0);
  if (name == "gelu")
    return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return name == "silu" ? x * sigmoid(x) : x;
}

// One expert's layer on one row.
Numbers layer(const Tensor& weights, const std::optional<Tensor>& bias, int64_t expert,
              const Numbers& row) {
  const Numbers w = as_doubles(weights);
  const auto outputs = static_cast<std::size_t>(weights.shape[1]);
  Numbers result(outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    const std::size_t at = static_cast<std::size_t>(expert) * outputs + o;
    if (bias) result[o] = as_doubles(*bias)[at];
    for (std::size_t i = 0; i < row.size(); ++i) result[o] += w[at * row.size() + i] * row[i];
  }
  return result;
}

struct MoENode {
  std::string activation = "relu";
  int64_t k = 1, normalizes = 0, fusion = 0;
  float alpha = 1, beta = 0, limit = INFINITY;
  bool has_biases = true, has_third = false;

  [[nodiscard]] int64_t first() const { return activation == "swiglu" && fusion > 0 ? 10 : 5; }

  [[nodiscard]] Arguments inputs(const Shape& rows) const {
    Shape x = rows;
    x.push_back(kHidden);
    const auto optional = [](bool is_there, const Shape& shape, uint32_t seed) {
      return is_there ? std::optional(random_floats(shape, seed)) : std::nullopt;
    };
    Arguments all = {random_floats(x, 1),
                     random_floats({kRows, kExperts}, 2),
                     random_floats({kExperts, first(), kHidden}, 3),
                     optional(has_biases, {kExperts, first()}, 4),
                     random_floats({kExperts, kHidden, kInner}, 5),
                     optional(has_biases, {kExperts, kHidden}, 6),
                     optional(has_third, {kExperts, kInner, kHidden}, 7),
                     optional(has_third && has_biases, {kExperts, kInner}, 8)};
    while (!all.back()) all.pop_back();
    return all;
  }

  [[nodiscard]] Attributes attributes() const {
    Attributes all = {{"activation_type", activation},
                      {"k", k},
                      {"normalize_routing_weights", normalizes},
                      {"swiglu_fusion", fusion},
                      {"activation_alpha", alpha},
                      {"activation_beta", beta}};
    if (std::isfinite(limit)) all.emplace_back("swiglu_limit", limit);
    return all;
  }

  [[nodiscard]] Numbers inner(const Arguments& inputs, int64_t expert, const Numbers& row) const {
    const Numbers first = layer(*inputs[2], inputs[3], expert, row);
    Numbers third(kInner, 1);
    if (has_third) third = layer(*inputs[6], has_biases ? inputs[7] : std::nullopt, expert, row);
    Numbers result(kInner);
    for (std::size_t i = 0; i < kInner; ++i) {
      if (activation != "swiglu") {
        result[i] = activated(activation, first[i]) * third[i];
        continue;
      }
      double gate = first[fusion == 1 ? 2 * i : i];
      double linear = fusion == 0 ? third[i] : first[fusion == 1 ? 2 * i + 1 : kInner + i];
      gate = std::min<double>(gate, limit);
      linear = std::clamp<double>(linear, -limit, limit);
      result[i] = gate * sigmoid(alpha * gate) * (linear + beta);
    }
    return result;
  }

  [[nodiscard]] Tensor expected(const Arguments& inputs) const {
    const Numbers x = as_doubles(*inputs[0]), router = as_doubles(*inputs[1]);
    Numbers y(x.size());
    for (std::size_t r = 0; r < kRows; ++r) {
      const Numbers row(x.begin() + static_cast<int64_t>(r) * kHidden,
                        x.begin() + static_cast<int64_t>(r + 1) * kHidden);
      std::vector<int64_t> order(kExperts);
      std::iota(order.begin(), order.end(), 0);
      const auto power = [&](int64_t e) {
        return std::exp(router[r * kExperts + static_cast<std::size_t>(e)]);
      };
      std::sort(order.begin(), order.end(),
                [&](int64_t a, int64_t b) { return power(a) > power(b); });
      double sum = 0;
      for (int64_t i = 0; i < (normalizes != 0 ? k : kExperts); ++i) {
        sum += power(order[static_cast<std::size_t>(i)]);
      }
      for (int64_t i = 0; i < k; ++i) {
        const int64_t expert = order[static_cast<std::size_t>(i)];
        const Numbers result = layer(*inputs[4], inputs.size() > 5 ? inputs[5] : std::nullopt,
                                     expert, inner(inputs, expert, row));
        for (std::size_t c = 0; c < kHidden; ++c)
          y[r * kHidden + c] += power(expert) / sum * result[c];
      }
    }
    return from_doubles(inputs[0]->shape, y);
  }

  void check(const Shape& rows = {kRows}) const {
    SCOPED_TRACE(activation + " " + std::to_string(k) + " " + std::to_string(fusion));
    const Arguments given = inputs(rows);
    EXPECT_EQ(
        difference(run_microsoft_one("MoE", given, attributes()), expected(given), 1e-4, 1e-5), "");
  }
};

TEST(MoE, AddsUpTheChosenExperts) {
  for (const char* activation : {"relu", "gelu", "silu", "identity"}) {
    for (const int64_t k : {1, 2, 4}) {
      MoENode{.activation = activation, .k = k}.check();
      MoENode{.activation = activation, .k = k, .normalizes = 1, .has_biases = false}.check();
    }
  }
  MoENode{.k = 2}.check({1, kRows});
}

TEST(MoE, GatesWithTheThirdLayer) {
  MoENode{.activation = "silu", .k = 2, .has_third = true}.check();
  MoENode{.activation = "silu", .k = 2, .has_biases = false, .has_third = true}.check();
  MoENode{
      .activation = "swiglu", .k = 2, .alpha = 1.7F, .beta = 1, .limit = 0.3F, .has_third = true}
      .check();
}

TEST(MoE, GatesWithHalfOfTheFirstLayer) {
  for (const int64_t fusion : {1, 2}) {
    MoENode{.activation = "swiglu", .k = 2, .fusion = fusion}.check();
    MoENode{.activation = "swiglu",
            .k = 2,
            .fusion = fusion,
            .alpha = 1.702F,
            .beta = 1,
            .limit = 0.25F}
        .check();
  }
}

TEST(MoE, RefusesWhatItDoesNotCompute) {
  const auto refused = [](const MoENode& node, const Attributes& more = {}) {
    Attributes attributes = node.attributes();
    attributes.insert(attributes.end(), more.begin(), more.end());
    return run_unchecked("MoE", node.inputs({kRows}), attributes).message;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refused({.k = 5}), HasSubstr("k=5 exceeds the 4 experts"));
  EXPECT_THAT(refused({}, {{"use_sparse_mixer", int64_t{1}}}), HasSubstr("use_sparse_mixer"));
  EXPECT_THAT(refused({.activation = "selu"}), HasSubstr("'selu'"));
  EXPECT_THAT(refused({.activation = "swiglu"}), HasSubstr("needs fc3_experts_weights"));
}

TEST(SparseToDenseMatMul, MultipliesMatrices) {
  const Numbers a = {1, 0, 2, 0, 0, -3}, b = {1, 2, 3, 4, 5, 6};  // 2 x 3 and 3 x 2
  const Numbers product = {11, 14, -15, -18};
  const Tensor left = from_doubles({2, 3}, a), right = from_doubles({3, 2}, b);
  const Tensor transposed = from_doubles({3, 2}, {1, 0, 0, 0, 2, -3});
  EXPECT_EQ(difference(run_microsoft_one("SparseToDenseMatMul", {left, right}),
                       from_doubles({2, 2}, product)),
            "");
  EXPECT_EQ(difference(run_microsoft_one("SparseToDenseMatMul", {transposed, right},
                                         {{"transA", int64_t{1}}, {"alpha", 0.5F}}),
                       from_doubles({2, 2}, {5.5, 7, -7.5, -9})),
            "");
  const Tensor ints = tensor<int64_t>({2, 3}, {1, 0, 2, 0, 0, -3});
  const Tensor columns = tensor<int64_t>({2, 3}, {1, 3, 5, 2, 4, 6});
  EXPECT_EQ(
      run_microsoft_one("SparseToDenseMatMul", {ints, columns}, {{"transB", int64_t{1}}}).bytes,
      tensor<int64_t>({2, 2}, {11, 14, -15, -18}).bytes);
  EXPECT_THAT(
      run_unchecked("SparseToDenseMatMul", {ints, ints}, {{"transB", int64_t{1}}, {"alpha", 2.0F}})
          .message,
      ::testing::HasSubstr("alpha is not 1 for a product of integers"));
}

}  // namespace
}  // namespace ephost::test::moe_test
