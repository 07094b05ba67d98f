// Attention and MultiHeadAttention of com.microsoft against plain loops in double.
#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/microsoft/attention/plain_attention.h"

namespace ephost::test::attention_test {
namespace {

std::vector<double> part_of(const Tensor& x, std::size_t first, std::size_t count) {
  const std::vector<double> all = as_doubles(x);
  return {all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

// ---- MultiHeadAttention -------------------------------------------------------------------------

struct MultiHead {
  Tensor q = random_floats({2, 3, 8}, 1);
  Tensor k = random_floats({2, 5, 8}, 2);
  Tensor v = random_floats({2, 5, 12}, 3);
  Tensor bias = random_floats({28}, 4);
  Attributes attributes = {{"num_heads", int64_t{2}}};
};

TEST(MultiHeadAttention, AttendsWithABias) {
  const MultiHead m;
  expect_equal(run_microsoft_one("MultiHeadAttention", {m.q, m.k, m.v}, m.attributes),
               attend(split(m.q, 2), split(m.k, 2), split(m.v, 2), 0.5, no_mask));
  const Tensor biased =
      attend(split(m.q, 2, part_of(m.bias, 0, 8)), split(m.k, 2, part_of(m.bias, 8, 8)),
             split(m.v, 2, part_of(m.bias, 16, 12)), 0.3, no_mask);
  Attributes scaled = m.attributes;
  scaled.emplace_back("scale", 0.3F);
  expect_equal(run_microsoft_one("MultiHeadAttention", {m.q, m.k, m.v, m.bias}, scaled), biased);
}

TEST(MultiHeadAttention, HidesPaddingWithTheFilterValue) {
  const MultiHead m;
  Attributes attributes = m.attributes;
  attributes.emplace_back("mask_filter_value", -3.0F);
  const Tensor attention_bias = random_floats({1, 2, 3, 5}, 5);
  const auto with_bias = [&](int64_t h, int64_t t, int64_t j) {
    return as_doubles(attention_bias)[static_cast<std::size_t>((h * 3 + t) * 5 + j)];
  };
  const auto run = [&](const Tensor& mask) {
    return run_microsoft_one("MultiHeadAttention",
                             {m.q, m.k, m.v, std::nullopt, mask, attention_bias}, attributes);
  };
  const auto expected = [&](const std::function<bool(int64_t, int64_t, int64_t)>& hides) {
    return attend(split(m.q, 2), split(m.k, 2), split(m.v, 2), 0.5,
                  [&](int64_t b, int64_t h, int64_t t, int64_t j) {
                    return with_bias(h, t, j) + (hides(b, t, j) ? -3.0 : 0.0);
                  });
  };
  expect_equal(run(tensor<int32_t>({2}, {5, 2})),
               expected([](int64_t b, int64_t, int64_t j) { return b == 1 && j >= 2; }));
  expect_equal(run(tensor<int32_t>({4}, {5, 4, 1, 2})), expected([](int64_t b, int64_t, int64_t j) {
                 return b == 0 ? j < 1 : j >= 4 || j < 2;
               }));
  expect_equal(run(tensor<int32_t>({2, 5}, {1, 1, 0, 1, 1, 1, 1, 1, 1, 0})),
               expected([](int64_t b, int64_t, int64_t j) { return b == 0 ? j == 2 : j == 4; }));
  std::vector<int32_t> each(30, 1);
  each[7] = each[29] = 0;
  expect_equal(run(tensor<int32_t>({2, 3, 5}, each)), expected([](int64_t b, int64_t t, int64_t j) {
                 return (b == 0 && t == 1 && j == 2) || (b == 1 && t == 2 && j == 4);
               }));
}

// "Previous tokens" are counted from the first key, or from the first one behind the past: with
// more keys than queries the last ones are seen by none.
TEST(MultiHeadAttention, CountsPreviousTokensFromTheFirstKey) {
  const MultiHead m;
  Attributes attributes = m.attributes;
  attributes.emplace_back("unidirectional", int64_t{1});
  expect_equal(run_microsoft_one("MultiHeadAttention", {m.q, m.k, m.v}, attributes),
               attend(split(m.q, 2), split(m.k, 2), split(m.v, 2), 0.5,
                      [](int64_t, int64_t, int64_t t, int64_t j) { return j > t ? kHidden : 0; }));
}

TEST(MultiHeadAttention, AppendsToThePast) {
  const Tensor q = random_floats({2, 3, 8}, 6);
  const Tensor k = random_floats({2, 3, 8}, 7);
  const Tensor v = random_floats({2, 3, 8}, 8);
  const Tensor past_k = random_floats({2, 2, 4, 4}, 9);
  const Tensor past_v = random_floats({2, 2, 4, 4}, 10);
  const Array keys = append(from_tensor(past_k), split(k, 2));
  const Array values = append(from_tensor(past_v), split(v, 2));
  const Outcome outcome = run_microsoft(
      "MultiHeadAttention", {q, k, v, std::nullopt, std::nullopt, std::nullopt, past_k, past_v},
      {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}}, 3);
  ASSERT_THAT(outcome, IsOk());
  expect_equal(outcome.outputs[0],
               attend(split(q, 2), keys, values, 0.5, [](int64_t, int64_t, int64_t t, int64_t j) {
                 return j > 4 + t ? kHidden : 0;
               }));
  expect_equal(outcome.outputs[1], to_tensor(keys));
  expect_equal(outcome.outputs[2], to_tensor(values));
}

TEST(MultiHeadAttention, TakesPackedAndSplitKeysAndValues) {
  const int64_t length = 3;
  const Tensor qkv = random_floats({2, length, 2, 3, 4}, 11);
  std::vector<float> parts[3];
  const std::vector<float> packed = values_of<float>(qkv);
  for (std::size_t i = 0; i < packed.size(); ++i) parts[i / 4 % 3].push_back(packed[i]);
  Tensor unpacked[3];
  for (std::size_t p = 0; p < 3; ++p) unpacked[p] = floats({2, length, 8}, parts[p]);
  const Tensor expected =
      attend(split(unpacked[0], 2), split(unpacked[1], 2), split(unpacked[2], 2), 0.5, no_mask);
  const Attributes heads = {{"num_heads", int64_t{2}}};
  expect_equal(run_microsoft_one("MultiHeadAttention", {qkv}, heads), expected);
  std::vector<float> both;
  for (std::size_t t = 0; t < parts[0].size(); t += 4) {
    for (const std::size_t p : {1, 2}) {
      both.insert(both.end(), parts[p].begin() + static_cast<std::ptrdiff_t>(t),
                  parts[p].begin() + static_cast<std::ptrdiff_t>(t) + 4);
    }
  }
  expect_equal(run_microsoft_one("MultiHeadAttention",
                                 {unpacked[0], floats({2, length, 2, 2, 4}, both)}, heads),
               expected);
  expect_equal(
      run_microsoft_one(
          "MultiHeadAttention",
          {unpacked[0], to_tensor(split(unpacked[1], 2)), to_tensor(split(unpacked[2], 2))}, heads),
      expected);
}

TEST(MultiHeadAttention, RefusesWhatItDoesNotSupportAndWhatDoesNotFit) {
  const MultiHead m;
  Arguments inputs = {m.q, m.k, m.v};
  inputs.resize(9);
  inputs[8] = tensor<int32_t>({1}, {0});
  EXPECT_THAT(run_microsoft("MultiHeadAttention", inputs, m.attributes),
              Refuses(EPH_NOT_IMPLEMENTED, "past_sequence_length"));
  EXPECT_THAT(run_microsoft("MultiHeadAttention", {m.q, m.k, m.v}, m.attributes, 4),
              Refuses(EPH_NOT_IMPLEMENTED, "the output qk is not supported"));
  EXPECT_THAT(run_unchecked("MultiHeadAttention", {m.q, m.q, m.v}, m.attributes),
              Refuses(EPH_INVALID_ARGUMENT, "do not fit each other and 2 heads"));
  EXPECT_THAT(run_unchecked("MultiHeadAttention", {m.q, m.k, m.v}, {{"num_heads", int64_t{3}}}),
              Refuses(EPH_INVALID_ARGUMENT, "do not fit each other and 3 heads"));
  EXPECT_THAT(run_unchecked("MultiHeadAttention", {m.q, m.k, m.v}, {{"num_heads", int64_t{0}}}),
              Refuses(EPH_INVALID_ARGUMENT, "num_heads=0 is not positive"));
  EXPECT_THAT(
      run_unchecked("MultiHeadAttention",
                    {m.q, m.k, m.v, std::nullopt, tensor<int32_t>({8}, std::vector<int32_t>(8, 1))},
                    m.attributes),
      Refuses(EPH_NOT_IMPLEMENTED, "a mask of shape [8]"));
}

// ---- Attention ----------------------------------------------------------------------------------

TEST(ProjectedAttention, ProjectsAndAttends) {
  const Tensor x = random_floats({2, 3, 5}, 21);
  for (const bool has_sizes : {false, true}) {
    const int64_t value_size = has_sizes ? 12 : 8;
    const int64_t all = 16 + value_size;
    const Tensor weights = random_floats({5, all}, 22);
    const Tensor bias = random_floats({all}, 23);
    std::vector<double> parts[3];
    for (int64_t t = 0; t < 6; ++t) {
      for (int64_t j = 0; j < all; ++j) {
        double sum = as_doubles(bias)[static_cast<std::size_t>(j)];
        for (int64_t e = 0; e < 5; ++e) {
          sum += as_doubles(x)[static_cast<std::size_t>(t * 5 + e)] *
                 as_doubles(weights)[static_cast<std::size_t>(e * all + j)];
        }
        parts[std::min<int64_t>(2, j / 8)].push_back(sum);
      }
    }
    const auto heads = [&](std::size_t p, int64_t size) {
      return split(from_doubles({2, 3, size}, parts[p]), 2);
    };
    Attributes attributes = {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}};
    if (has_sizes) attributes.emplace_back("qkv_hidden_sizes", std::vector<int64_t>{8, 8, 12});
    const auto causal = [](int64_t, int64_t, int64_t t, int64_t j) {
      return j > t ? kHidden : 0.0;
    };
    expect_equal(run_microsoft_one("Attention", {x, weights, bias}, attributes),
                 attend(heads(0, 8), heads(1, 8), heads(2, value_size), 0.5, causal));
    if (has_sizes) continue;
    // With a past and a present, as one tensor each.
    const Tensor past = random_floats({2, 2, 2, 4, 4}, 24);
    Array past_k = {2, 2, 4, 4};
    Array past_v = {2, 2, 4, 4};
    past_k.values = part_of(past, 0, 64);
    past_v.values = part_of(past, 64, 64);
    const Array keys = append(past_k, heads(1, 8));
    const Array values = append(past_v, heads(2, 8));
    const Tensor mask = tensor<int32_t>({2, 7}, {1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1});
    const Outcome outcome =
        run_microsoft("Attention", {x, weights, bias, mask, past}, {{"num_heads", int64_t{2}}}, 2);
    ASSERT_THAT(outcome, IsOk());
    expect_equal(outcome.outputs[0],
                 attend(heads(0, 8), keys, values, 0.5, [](int64_t b, int64_t, int64_t, int64_t j) {
                   return (b == 0 ? j == 2 : j == 0) ? -10000.0 : 0.0;
                 }));
    std::vector<double> present = keys.values;
    present.insert(present.end(), values.values.begin(), values.values.end());
    expect_equal(outcome.outputs[1], from_doubles({2, 2, 2, 7, 4}, present));
  }
}

TEST(ProjectedAttention, RefusesWhatItDoesNotSupportAndWhatDoesNotFit) {
  const Tensor x = random_floats({1, 2, 4}, 25);
  const Tensor weights = random_floats({4, 12}, 26);
  const auto with = [&](const char* name, int64_t value) {
    return run_microsoft("Attention", {x, weights}, {{"num_heads", int64_t{2}}, {name, value}});
  };
  EXPECT_THAT(with("do_rotary", 1), Refuses(EPH_NOT_IMPLEMENTED, "do_rotary is not supported"));
  EXPECT_THAT(with("past_present_share_buffer", 1),
              Refuses(EPH_NOT_IMPLEMENTED, "past_present_share_buffer is not supported"));
  EXPECT_THAT(run_unchecked("Attention", {x, weights}, {{"num_heads", int64_t{3}}}),
              Refuses(EPH_INVALID_ARGUMENT, "cannot be cut into 3 heads"));
  EXPECT_THAT(run_unchecked("Attention", {x, weights},
                            {{"num_heads", int64_t{2}},
                             {"qkv_hidden_sizes", std::vector<int64_t>{INT64_MAX, 4, 4}}}),
              Refuses(EPH_INVALID_ARGUMENT, "cannot be cut into 2 heads"));
}

}  // namespace
}  // namespace ephost::test::attention_test
