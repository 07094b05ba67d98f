// Attention, RotaryEmbedding and TensorScatter against their formulas.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::attention_test {
namespace {

struct AttentionCase {
  std::string name;
  int64_t heads = 2, kv_heads = 2;
  bool flat = false;  // [batch, length, heads * size]
  int64_t past = 0;
  bool causal = false;
  Shape mask = {};
  bool flags = false;
  std::vector<int64_t> valid = {};
  float softcap = 0, scale = 0;
  int64_t stage = 0;
};

void PrintTo(const AttentionCase& test, std::ostream* out) { *out << test.name; }

constexpr int64_t kBatch = 2, kQueries = 3, kKeys = 5, kSize = 4, kValueSize = 6;

class AttentionOperator : public ::testing::TestWithParam<AttentionCase> {
 protected:
  AttentionOperator() {
    const AttentionCase& test = GetParam();
    total = kKeys + test.past;
    q = random_floats({kBatch, test.heads, kQueries, kSize}, 1, -2, 2);
    k = random_floats({kBatch, test.kv_heads, kKeys, kSize}, 2, -2, 2);
    v = random_floats({kBatch, test.kv_heads, kKeys, kValueSize}, 3, -2, 2);
    past_k = random_floats({kBatch, test.kv_heads, test.past, kSize}, 4);
    past_v = random_floats({kBatch, test.kv_heads, test.past, kValueSize}, 5);
    mask = random_floats(test.mask, 6);
    if (test.flags) {
      std::vector<int> flags;
      for (const float value : values_of<float>(mask)) flags.push_back(value > -0.3F ? 1 : 0);
      mask = bools(test.mask, flags);
    }
  }

  // Past and new rows of [batch, heads, length, size], head by head.
  [[nodiscard]] Tensor join(const Tensor& past, const Tensor& added) const {
    if (GetParam().past == 0) return added;
    return run_one("Concat", 13, {past, added}, {{"axis", int64_t{2}}});
  }

  // What the mask adds to a score.
  [[nodiscard]] double masked(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const AttentionCase& test = GetParam();
    constexpr double kMaskedScore = -std::numeric_limits<double>::infinity();
    int64_t before = test.past;
    if (!test.valid.empty()) {
      const int64_t valid = test.valid[static_cast<std::size_t>(b)];
      if (j >= valid) return kMaskedScore;
      before = valid - kQueries;
    }
    if (test.causal && j > i + before) return kMaskedScore;
    if (test.mask.empty()) return 0;
    const Shape at = {b, h, i, j};
    int64_t offset = 0;
    for (std::size_t d = 0; d < test.mask.size(); ++d) {
      const int64_t index = at[4 - test.mask.size() + d];
      if (index >= test.mask[d] && d + 1 == test.mask.size()) return kMaskedScore;
      offset = offset * test.mask[d] + (test.mask[d] == 1 ? 0 : index);
    }
    const auto element = static_cast<std::size_t>(offset);
    if (test.flags) return values_of<uint8_t>(mask)[element] != 0 ? 0 : kMaskedScore;
    return as_doubles(mask)[element];
  }

  void compute() {
    const AttentionCase& test = GetParam();
    const std::vector<double> from = as_doubles(q);
    const std::vector<double> keys = as_doubles(join(past_k, k));
    const std::vector<double> values = as_doubles(join(past_v, v));
    const double scale = test.scale != 0 ? static_cast<double>(test.scale) : 0.5;
    const double cap = static_cast<double>(test.softcap);
    for (int64_t row = 0; row < kBatch * test.heads * kQueries; ++row) {
      const int64_t i = row % kQueries;
      const int64_t h = row / kQueries % test.heads;
      const int64_t b = row / kQueries / test.heads;
      const int64_t kv = b * test.kv_heads + h / (test.heads / test.kv_heads);
      std::vector<double> weights;
      double sum = 0;
      for (int64_t j = 0; j < total; ++j) {
        double score = 0;
        for (int64_t e = 0; e < kSize; ++e) {
          score += from[static_cast<std::size_t>(row * kSize + e)] *
                   keys[static_cast<std::size_t>((kv * total + j) * kSize + e)];
        }
        score *= scale;
        std::vector<double> stages = {score};
        if (cap > 0) score = cap * std::tanh(score / cap);
        stages.push_back(score);
        score += masked(b, h, i, j);
        stages.push_back(score);
        if (test.stage < 3) stored.push_back(stages[static_cast<std::size_t>(test.stage)]);
        weights.push_back(std::exp(score));
        sum += weights.back();
      }
      for (double& weight : weights) weight = sum == 0 ? 0 : weight / sum;
      if (test.stage == 3) stored.insert(stored.end(), weights.begin(), weights.end());
      for (int64_t e = 0; e < kValueSize; ++e) {
        double result = 0;
        for (int64_t j = 0; j < total; ++j) {
          result += weights[static_cast<std::size_t>(j)] *
                    values[static_cast<std::size_t>((kv * total + j) * kValueSize + e)];
        }
        y.push_back(result);
      }
    }
  }

  // [batch, heads, length, size] as [batch, length, heads * size].
  static Tensor flatten(const Tensor& from) {
    Tensor turned = run_one("Transpose", 13, {from}, {{"perm", Shape{0, 2, 1, 3}}});
    turned.shape = {turned.shape[0], turned.shape[1], turned.shape[2] * turned.shape[3]};
    return turned;
  }

  [[nodiscard]] Outcome run(int32_t type, int opset) const {
    const AttentionCase& test = GetParam();
    SingleNodeGraph node("Attention", opset);
    const auto add = [&](const Tensor& input, bool is_given) {
      if (!is_given) {
        node.skip_input();
      } else {
        node.input(type == EPH_ELEMENT_DOUBLE && input.type == EPH_ELEMENT_FLOAT
                       ? to_double_tensor(input)
                       : input);
      }
    };
    for (const Tensor& input : {q, k, v}) add(test.flat ? flatten(input) : input, true);
    add(mask, !test.mask.empty());
    add(past_k, test.past > 0);
    add(past_v, test.past > 0);
    if (!test.valid.empty()) add(ints(test.valid), true);
    for (int i = 0; i < 4; ++i) node.output();
    if (test.flat) {
      node.attribute("q_num_heads", test.heads).attribute("kv_num_heads", test.kv_heads);
    }
    if (test.scale != 0) node.attribute("scale", test.scale);
    node.attribute("is_causal", int64_t{test.causal}).attribute("softcap", test.softcap);
    node.attribute("qk_matmul_output_mode", test.stage);
    return cpu_session().run(node);
  }

  int64_t total = 0;
  Tensor q, k, v, past_k, past_v, mask;
  std::vector<double> y, stored;
};

TEST_P(AttentionOperator, FollowsItsFormula) {
  const AttentionCase& test = GetParam();
  compute();
  const Tensor by_head = from_doubles({kBatch, test.heads, kQueries, kValueSize}, y);
  const std::vector<Tensor> expected = {
      test.flat ? flatten(by_head) : by_head, join(past_k, k), join(past_v, v),
      from_doubles({kBatch, test.heads, kQueries, total}, stored)};
  for (const int opset : {23, 24}) {
    if (opset < 24 && !test.valid.empty()) continue;
    for (const int32_t type : {EPH_ELEMENT_FLOAT, EPH_ELEMENT_DOUBLE}) {
      const Outcome outcome = run(type, opset);
      ASSERT_THAT(outcome, IsOk());
      for (std::size_t i = 0; i < 4; ++i) {
        const Tensor wanted =
            type == EPH_ELEMENT_DOUBLE ? to_double_tensor(expected[i]) : expected[i];
        EXPECT_EQ(difference(outcome.outputs[i], wanted, 1e-4, 1e-5), "")
            << "output " << i << " of opset " << opset;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, AttentionOperator,
    ::testing::Values(
        AttentionCase{"plain"}, AttentionCase{"flat", 2, 2, true},
        AttentionCase{"shared", 6, 2, false}, AttentionCase{"flat_shared", 4, 1, true, 2},
        AttentionCase{"past", 2, 2, false, 3}, AttentionCase{"causal", 2, 2, false, 0, true},
        AttentionCase{"causal_past", 2, 2, false, 3, true},
        AttentionCase{"mask", 2, 2, false, 0, false, {kQueries, kKeys}},
        AttentionCase{"mask_batch", 2, 2, false, 2, true, {kBatch, 1, kQueries, kKeys + 2}},
        AttentionCase{"mask_short", 2, 2, false, 0, false, {2, 1, 3}},
        AttentionCase{"flags", 4, 2, false, 0, false, {kBatch, 4, kQueries, kKeys}, true},
        AttentionCase{"flags_short", 2, 2, true, 0, true, {1, 2}, true},
        AttentionCase{"valid", 2, 2, false, 0, false, {}, false, {4, 0}},
        AttentionCase{"valid_causal", 2, 2, false, 0, true, {}, false, {5, 3}},
        AttentionCase{"softcap", 2, 2, false, 0, false, {}, false, {}, 1.5F, 0.7F},
        AttentionCase{"stage1", 2, 2, false, 0, true, {}, false, {}, 1.5F, 0, 1},
        AttentionCase{"stage2", 2, 2, false, 0, false, {kKeys}, false, {}, 1.5F, 0, 2},
        AttentionCase{"stage3", 2, 2, true, 1, true, {}, false, {}, 0, 0, 3}));

// The product of queries and keys, after the cap, after the mask, and after the softmax.
INSTANTIATE_TEST_SUITE_P(
    StoredScores, AttentionOperator,
    ::testing::Values(
        AttentionCase{"product", 2, 2, false, 2, false, {kQueries, 7}, false, {}, 0.5F, 0, 0},
        AttentionCase{"capped", 2, 2, false, 2, false, {kQueries, 7}, false, {}, 0.5F, 0, 1},
        AttentionCase{"masked", 2, 2, false, 2, false, {kQueries, 7}, false, {}, 0.5F, 0, 2},
        AttentionCase{"softmax", 2, 2, false, 2, false, {kQueries, 7}, false, {}, 0.5F, 0, 3},
        AttentionCase{"flat_product", 4, 2, true, 0, true, {1, kKeys}, true, {}, 0.5F, 0.3F, 0},
        AttentionCase{"flat_capped", 4, 2, true, 0, true, {1, kKeys}, true, {}, 0.5F, 0.3F, 1},
        AttentionCase{"flat_masked", 4, 2, true, 0, true, {1, kKeys}, true, {}, 0.5F, 0.3F, 2},
        AttentionCase{"flat_softmax", 4, 2, true, 0, true, {1, kKeys}, true, {}, 0.5F, 0.3F, 3},
        AttentionCase{"uncapped", 2, 2, false, 0, false, {kQueries, kKeys}, false, {}, 0, 0, 1}));

TEST(RotaryEmbedding, TurnsPairsByTheAnglesOfTheirPositions) {
  const Tensor x = random_floats({2, 3, 4, 6}, 1);  // [batch, heads, length, size]
  const Tensor cosines = random_floats({10, 2}, 2);
  const Tensor sines = random_floats({10, 2}, 3);
  const std::vector<int64_t> positions = {0, 1, 2, 3, 9, 5, 0, 7};
  for (const bool interleaved : {false, true}) {
    std::vector<double> y = as_doubles(x);
    for (int64_t row = 0; row < 24; ++row) {
      const int64_t position = positions[static_cast<std::size_t>(row / 12 * 4 + row % 4)];
      for (int64_t i = 0; i < 2; ++i) {
        const auto first = static_cast<std::size_t>(row * 6 + (interleaved ? 2 * i : i));
        const std::size_t second = first + (interleaved ? 1 : 2);
        const auto angle = static_cast<std::size_t>(position * 2 + i);
        const double real = as_doubles(x)[first];
        const double imaginary = as_doubles(x)[second];
        y[first] = as_doubles(cosines)[angle] * real - as_doubles(sines)[angle] * imaginary;
        y[second] = as_doubles(sines)[angle] * real + as_doubles(cosines)[angle] * imaginary;
      }
    }
    const Attributes attributes = {{"interleaved", int64_t{interleaved}},
                                   {"rotary_embedding_dim", int64_t{4}}};
    const Tensor ids = tensor<int64_t>({2, 4}, positions);
    const Tensor expected = from_doubles(x.shape, y);
    EXPECT_EQ(difference(run_one("RotaryEmbedding", 23, {x, cosines, sines, ids}, attributes),
                         expected, 1e-5, 1e-6),
              "");
    // Flat, with the angles of each token given.
    const auto flatten = [](const Tensor& from) {
      Tensor turned = run_one("Transpose", 13, {from}, {{"perm", Shape{0, 2, 1, 3}}});
      turned.shape = {2, 4, 18};
      return turned;
    };
    Attributes flat = attributes;
    flat.emplace_back("num_heads", int64_t{3});
    EXPECT_EQ(difference(run_one("RotaryEmbedding", 23,
                                 {flatten(x), run_one("Gather", 13, {cosines, ids}),
                                  run_one("Gather", 13, {sines, ids})},
                                 flat),
                         flatten(expected), 1e-5, 1e-6),
              "");
  }
}

TEST(TensorScatter, OverwritesFromAPositionOn) {
  const Tensor past = floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16});
  const Tensor update = floats({2, 2, 2}, {-1, -2, -3, -4, -5, -6, -7, -8});
  EXPECT_THAT(run_node("TensorScatter", 24, {past, update, ints({1, 0})}),
              Gives(std::vector<Tensor>{
                  floats({2, 3, 2}, {1, 2, -1, -2, -3, -4, -5, -6, -7, -8, 15, 16})}));
  EXPECT_THAT(run_node("TensorScatter", 24, {past, update, ints({2, 4})},
                       {{"mode", std::string("circular")}}),
              Gives(std::vector<Tensor>{
                  floats({2, 3, 2}, {-3, -4, 3, 4, -1, -2, 11, 12, -5, -6, -7, -8})}));
  EXPECT_THAT(
      run_node("TensorScatter", 24,
               {tensor<int8_t>({1, 2, 3}, {1, 2, 3, 4, 5, 6}), tensor<int8_t>({1, 2, 1}, {9, 8})},
               {{"axis", int64_t{2}}}),
      Gives(std::vector<Tensor>{tensor<int8_t>({1, 2, 3}, {9, 2, 3, 8, 5, 6})}));
}

}  // namespace
}  // namespace ephost::test::attention_test
