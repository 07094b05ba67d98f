// GroupQueryAttention and RotaryEmbedding of com.microsoft against plain loops in double.
#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/microsoft/attention/plain_attention.h"

namespace ephost::test::group_query_attention_test {
namespace {

// The first 2 * pairs elements of each head, turned by the angle for its position.
void rotate(Array& x, const Tensor& cosines, const Tensor& sines, bool interleaved,
            const std::function<int64_t(int64_t, int64_t)>& position) {
  const int64_t pairs = cosines.shape[1];
  const Array before = x;
  for (int64_t b = 0; b < x.a; ++b) {
    for (int64_t h = 0; h < x.b; ++h) {
      for (int64_t t = 0; t < x.c; ++t) {
        for (int64_t p = 0; p < pairs; ++p) {
          const auto angle = static_cast<std::size_t>(position(b, t) * pairs + p);
          const double c = as_doubles(cosines)[angle];
          const double s = as_doubles(sines)[angle];
          const int64_t first = interleaved ? 2 * p : p;
          const int64_t second = interleaved ? 2 * p + 1 : p + pairs;
          const double re = before.at(b, h, t, first);
          const double im = before.at(b, h, t, second);
          x.at(b, h, t, first) = re * c - im * s;
          x.at(b, h, t, second) = re * s + im * c;
        }
      }
    }
  }
}

// [batch, heads, length, size] as [batch, length, heads * size].
Tensor join(const Array& x) {
  std::vector<double> y;
  for (int64_t b = 0; b < x.a; ++b) {
    for (int64_t t = 0; t < x.c; ++t) {
      for (int64_t h = 0; h < x.b; ++h) {
        for (int64_t e = 0; e < x.d; ++e) y.push_back(x.at(b, h, t, e));
      }
    }
  }
  return from_doubles({x.a, x.c, x.b * x.d}, y);
}

TEST(MicrosoftRotaryEmbedding, TurnsHeadsByPosition) {
  const Tensor x = random_floats({2, 3, 12}, 31);
  for (const int64_t interleaved : {0, 1}) {
    for (const int64_t rotated : {0, 4}) {
      const Tensor cosines = random_floats({7, rotated == 0 ? 3 : 2}, 32);
      const Tensor sines = random_floats({7, rotated == 0 ? 3 : 2}, 33);
      const std::vector<int64_t> ids = {0, 6, 2, 5, 1, 1};
      const auto run = [&](const Tensor& input, const Tensor& positions) {
        return run_microsoft_one("RotaryEmbedding", {input, positions, cosines, sines},
                                 {{"interleaved", interleaved},
                                  {"num_heads", int64_t{rotated == 0 ? 0 : 2}},
                                  {"rotary_embedding_dim", rotated}});
      };
      Array by_id = split(x, 2);
      rotate(by_id, cosines, sines, interleaved != 0,
             [&](int64_t b, int64_t t) { return ids[static_cast<std::size_t>(b * 3 + t)]; });
      const Tensor positions = tensor<int64_t>({2, 3}, ids);
      expect_equal(run(x, positions), join(by_id));
      expect_equal(run(to_tensor(split(x, 2)), positions), to_tensor(by_id));
      Array by_offset = split(x, 2);
      rotate(by_offset, cosines, sines, interleaved != 0, [](int64_t, int64_t t) { return 4 + t; });
      expect_equal(run(x, tensor<int64_t>({1}, {4})), join(by_offset));
    }
  }
}

TEST(MicrosoftRotaryEmbedding, RefusesPositionsOutOfRangeAndUnsupportedAttributes) {
  const Tensor x = random_floats({1, 3, 4}, 34);
  const Tensor cache = random_floats({5, 2}, 35);
  const auto at = [&](int64_t position) {
    return run_unchecked("RotaryEmbedding", {x, tensor<int64_t>({1}, {position}), cache, cache});
  };
  EXPECT_THAT(at(2), IsOk());
  for (const int64_t position : {int64_t{-1}, int64_t{3}, int64_t{INT64_MAX}, INT64_MIN}) {
    EXPECT_EQ(at(position).code, EPH_INVALID_ARGUMENT) << position;
  }
  const Arguments inputs = {x, tensor<int64_t>({1}, {0}), cache, cache};
  EXPECT_THAT(run_microsoft("RotaryEmbedding", inputs, {{"is_packed_batching", int64_t{1}}}),
              Refuses(EPH_NOT_IMPLEMENTED, "is_packed_batching is not supported"));
  EXPECT_THAT(run_microsoft("RotaryEmbedding", inputs, {{"scale", 0.5F}}),
              Refuses(EPH_NOT_IMPLEMENTED, "a scale other than 1"));
}

// Two sequences, four heads of queries and two of keys, each of size 4.
struct GroupQuery {
  int64_t length, past_buffer;
  std::vector<int32_t> last;  // keys of each sequence, less one
  int32_t total;
  Tensor q = random_floats({2, length, 16}, 41);
  Tensor k = random_floats({2, length, 8}, 42);
  Tensor v = random_floats({2, length, 8}, 43);
  Tensor past_k = random_floats({2, 2, past_buffer, 4}, 44);
  Tensor past_v = random_floats({2, 2, past_buffer, 4}, 45);
  Tensor cosines = random_floats({10, 2}, 46);
  Tensor sines = random_floats({10, 2}, 47);

  [[nodiscard]] int64_t past(int64_t b) const {
    return length == total ? 0 : last[static_cast<std::size_t>(b)] + 1 - length;
  }
  [[nodiscard]] int64_t capacity() const { return std::max<int64_t>(past_buffer, total); }

  [[nodiscard]] Array cache(const Tensor& before, const Array& added) const {
    Array y = {2, 2, capacity(), 4};
    const Array old = from_tensor(before);
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t h = 0; h < 2; ++h) {
        for (int64_t t = 0; t < past(b) + length; ++t) {
          for (int64_t e = 0; e < 4; ++e) {
            y.at(b, h, t, e) = t < past(b) ? old.at(b, h, t, e) : added.at(b, h, t - past(b), e);
          }
        }
      }
    }
    return y;
  }

  void check(bool is_packed, bool rotates, double softcap = 0, bool is_causal = true,
             int64_t window = -1) const {
    Array queries = split(q, 4);
    Array keys = split(k, 2);
    if (rotates) {
      const auto position = [&](int64_t b, int64_t t) { return past(b) + t; };
      rotate(queries, cosines, sines, false, position);
      rotate(keys, cosines, sines, false, position);
    }
    const Array all_k = cache(past_k, keys);
    const Array all_v = cache(past_v, split(v, 2));
    const Tensor expected = attend(
        queries, all_k, all_v, 0.5,
        [&](int64_t b, int64_t, int64_t t, int64_t j) {
          const bool is_before_window = window >= 0 && j <= past(b) + t - window;
          return is_before_window || j >= past(b) + (is_causal ? t + 1 : length) ? kHidden : 0.0;
        },
        softcap);
    Arguments inputs = {q, k, v};
    if (is_packed) inputs = {pack(), std::nullopt, std::nullopt};
    inputs.resize(7);
    if (past_buffer > 0) {
      inputs[3] = past_k;
      inputs[4] = past_v;
    }
    inputs[5] = tensor<int32_t>({2}, last);
    inputs[6] = tensor<int32_t>({}, {total});
    if (rotates) {
      inputs.push_back(cosines);
      inputs.push_back(sines);
    }
    const Outcome outcome = run_microsoft("GroupQueryAttention", inputs,
                                          {{"num_heads", int64_t{4}},
                                           {"kv_num_heads", int64_t{2}},
                                           {"do_rotary", int64_t{rotates}},
                                           {"causal", int64_t{is_causal}},
                                           {"local_window_size", window},
                                           {"softcap", static_cast<float>(softcap)}},
                                          3);
    ASSERT_THAT(outcome, IsOk());
    expect_equal(outcome.outputs[0], expected);
    expect_equal(outcome.outputs[1], to_tensor(all_k));
    expect_equal(outcome.outputs[2], to_tensor(all_v));
  }

  // Query, key and value of each token behind each other.
  [[nodiscard]] Tensor pack() const {
    std::vector<float> packed;
    for (std::size_t t = 0; t < static_cast<std::size_t>(2 * length); ++t) {
      const auto add = [&](const Tensor& x, std::size_t size) {
        const std::vector<float> from = values_of<float>(x);
        packed.insert(packed.end(), from.begin() + static_cast<std::ptrdiff_t>(t * size),
                      from.begin() + static_cast<std::ptrdiff_t>((t + 1) * size));
      };
      add(q, 16);
      add(k, 8);
      add(v, 8);
    }
    return floats({2, length, 32}, packed);
  }
};

TEST(GroupQueryAttention, AnswersAPrompt) {
  const GroupQuery prompt = {3, 0, {2, 1}, 3};
  prompt.check(false, false);
  prompt.check(true, true);
  prompt.check(false, true, 0.25);
  prompt.check(false, false, 0, false);
}

TEST(GroupQueryAttention, ContinuesWithAPast) {
  GroupQuery{1, 4, {4, 2}, 5}.check(false, true);
  GroupQuery{1, 4, {4, 0}, 5}.check(true, false);
  GroupQuery{2, 8, {5, 3}, 6}.check(true, true);   // a buffer that is longer than needed
  GroupQuery{3, 8, {2, 2}, 3}.check(false, true);  // a prompt with such a buffer
}

// A window of n has n keys, the query's own included.
TEST(GroupQueryAttention, SeesTheKeysOfAWindow) {
  for (const int64_t window : {1, 2, 4, 100}) {
    GroupQuery{3, 0, {2, 1}, 3}.check(false, true, 0, true, window);
    GroupQuery{2, 8, {5, 3}, 6}.check(true, false, 0, true, window);
  }
}

TEST(GroupQueryAttention, TakesPositionsAndABias) {
  const GroupQuery g = {1, 4, {4, 2}, 5};
  const Tensor bias = random_floats({1, 4, 1, 5}, 48);
  Array queries = split(g.q, 4);
  Array keys = split(g.k, 2);
  const auto position = [](int64_t b, int64_t) { return 3 + b; };
  rotate(queries, g.cosines, g.sines, true, position);
  rotate(keys, g.cosines, g.sines, true, position);
  const Tensor expected = attend(
      queries, g.cache(g.past_k, keys), g.cache(g.past_v, split(g.v, 2)), 0.5,
      [&](int64_t b, int64_t h, int64_t, int64_t j) {
        return j > g.past(b) ? kHidden : as_doubles(bias)[static_cast<std::size_t>(h * 5 + j)];
      });
  expect_equal(run_microsoft_one("GroupQueryAttention",
                                 {g.q, g.k, g.v, g.past_k, g.past_v, tensor<int32_t>({2}, g.last),
                                  tensor<int32_t>({1}, {5}), g.cosines, g.sines,
                                  tensor<int64_t>({2, 1}, {3, 4}), bias},
                                 {{"num_heads", int64_t{4}},
                                  {"kv_num_heads", int64_t{2}},
                                  {"do_rotary", int64_t{1}},
                                  {"rotary_interleaved", int64_t{1}}}),
               expected);
}

TEST(GroupQueryAttention, RefusesWhatItDoesNotSupport) {
  const GroupQuery g = {1, 4, {4, 2}, 5};
  const auto run = [&](const Attributes& extra, std::size_t input = 0) {
    Arguments inputs = {
        g.q, g.k, g.v, g.past_k, g.past_v, tensor<int32_t>({2}, g.last), tensor<int32_t>({1}, {5})};
    if (input > 0) {
      inputs.resize(16);
      inputs[input] = floats({4}, {1, 1, 1, 1});
    }
    Attributes attributes = {{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};
    attributes.insert(attributes.end(), extra.begin(), extra.end());
    return run_microsoft("GroupQueryAttention", inputs, attributes);
  };
  EXPECT_THAT(run({}), IsOk());
  EXPECT_THAT(run({{"local_window_size", int64_t{0}}}),
              Refuses(EPH_NOT_IMPLEMENTED, "local_window_size=0 is neither -1 nor positive"));
  EXPECT_THAT(run({{"smooth_softmax", int64_t{1}}}),
              Refuses(EPH_NOT_IMPLEMENTED, "smooth_softmax is not supported"));
  EXPECT_THAT(run({{"sliding_window_cache", int64_t{1}}}),
              Refuses(EPH_NOT_IMPLEMENTED, "sliding_window_cache is not supported"));
  EXPECT_THAT(run({{"k_quant_type", "PER_TENSOR"}}),
              Refuses(EPH_NOT_IMPLEMENTED, "quantised caches"));
  EXPECT_THAT(run({{"qk_output", int64_t{1}}}), Refuses(EPH_NOT_IMPLEMENTED, "output_qk"));
  EXPECT_THAT(run({}, 11), Refuses(EPH_NOT_IMPLEMENTED, "head_sink is not supported"));
  EXPECT_THAT(run({}, 12), Refuses(EPH_NOT_IMPLEMENTED, "quantised caches"));
  EXPECT_THAT(run({}, 14), Refuses(EPH_NOT_IMPLEMENTED, "q_norm_weight"));
}

TEST(GroupQueryAttention, RefusesLengthsOutOfRange) {
  const GroupQuery g = {1, 4, {4, 2}, 5};
  const auto run = [&](std::vector<int32_t> last, int32_t total) {
    return run_unchecked(
        "GroupQueryAttention",
        {g.q, g.k, g.v, g.past_k, g.past_v,
         tensor<int32_t>({static_cast<int64_t>(last.size())}, last), tensor<int32_t>({1}, {total})},
        {{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}});
  };
  EXPECT_THAT(run({4, 2}, 5), IsOk());
  EXPECT_THAT(run({5, 2}, 5), Refuses(EPH_INVALID_ARGUMENT, "seqlens_k 5 is out of range"));
  EXPECT_THAT(run({-1, 2}, 5), Refuses(EPH_INVALID_ARGUMENT, "seqlens_k -1 is out of range"));
  EXPECT_THAT(run({4, 2}, 6), Refuses(EPH_INVALID_ARGUMENT, "total_sequence_length 6"));
  EXPECT_THAT(run({4, 2}, INT32_MAX), Refuses(EPH_INVALID_ARGUMENT, "total_sequence_length"));
  EXPECT_THAT(run({4, 2}, 0), Refuses(EPH_INVALID_ARGUMENT, "total_sequence_length 0"));
  EXPECT_THAT(run({4, 2, 1}, 5), Refuses(EPH_INVALID_ARGUMENT, "seqlens_k of shape [3]"));
}

}  // namespace
}  // namespace ephost::test::group_query_attention_test
