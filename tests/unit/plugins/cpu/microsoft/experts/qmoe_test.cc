// QMoE against MoE with weights that are dequantised here.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "tests/unit/plugins/cpu/microsoft/attention/plain_attention.h"

namespace ephost::test::qmoe_test {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kRows = 5, kHidden = 38, kInner = 20, kExperts = 3;

// Numbers of one layer, [experts, rows, depth], one for each byte, and what belongs to them.
struct Layer {
  std::vector<int64_t> codes, zeros;
  std::vector<double> scales;
  int64_t rows = 0, depth = 0;
};

struct Form {
  int64_t bits = 4, block = 0;
  bool has_zeros = false;

  [[nodiscard]] int64_t blocks(const Layer& layer) const {
    return block == 0 ? 1 : (layer.depth + block - 1) / block;
  }

  [[nodiscard]] Layer draw(int64_t rows, int64_t depth, std::mt19937& random) const {
    Layer layer = {.rows = rows, .depth = depth};
    const auto number = [&] { return static_cast<int64_t>(random() % (1U << bits)); };
    for (int64_t i = 0; i < kExperts * rows * depth; ++i) layer.codes.push_back(number());
    for (int64_t i = 0; i < kExperts * rows * blocks(layer); ++i) {
      layer.scales.push_back(static_cast<double>(1 + random() % 8) / 64);
      layer.zeros.push_back(has_zeros ? number() : int64_t{1} << (bits - 1));
    }
    return layer;
  }

  // Rows of numbers; two of 4 bits share a byte, the first one has its lower half.
  [[nodiscard]] Tensor packed(Shape shape, const std::vector<int64_t>& numbers) const {
    if (bits == 8) return tensor<uint8_t>(shape, {numbers.begin(), numbers.end()});
    const int64_t row = shape.back();
    std::vector<uint8_t> bytes;
    for (std::size_t first = 0; first < numbers.size(); first += static_cast<std::size_t>(row)) {
      for (int64_t i = 0; i < row; i += 2) {
        const std::size_t at = first + static_cast<std::size_t>(i);
        const int64_t high = i + 1 < row ? numbers[at + 1] : 0;
        bytes.push_back(static_cast<uint8_t>(numbers[at] + 16 * high));
      }
    }
    shape.back() = (row + 1) / 2;
    return tensor<uint8_t>(shape, bytes);
  }

  [[nodiscard]] Tensor weights(const Layer& layer) const {
    return packed({kExperts, layer.rows, layer.depth}, layer.codes);
  }
  [[nodiscard]] Tensor scales(const Layer& layer) const {
    Shape shape = {kExperts, layer.rows};
    if (block != 0) shape.push_back(blocks(layer));
    return from_doubles(shape, layer.scales);
  }
  [[nodiscard]] std::optional<Tensor> zeros(const Layer& layer) const {
    if (!has_zeros) return std::nullopt;
    Shape shape = {kExperts, layer.rows};
    if (block != 0) shape.push_back(blocks(layer));
    return packed(shape, layer.zeros);
  }
  [[nodiscard]] Tensor dequantized(const Layer& layer) const {
    std::vector<double> numbers;
    const int64_t of_row = blocks(layer);
    for (std::size_t i = 0; i < layer.codes.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / layer.depth;
      const auto column = static_cast<int64_t>(i) % layer.depth;
      const auto at = static_cast<std::size_t>(row * of_row + (block == 0 ? 0 : column / block));
      numbers.push_back(static_cast<double>(layer.codes[i] - layer.zeros[at]) * layer.scales[at]);
    }
    return from_doubles({kExperts, layer.rows, layer.depth}, numbers);
  }

  [[nodiscard]] Attributes attributes(Attributes more) const {
    more.emplace_back("expert_weight_bits", bits);
    if (block != 0) more.emplace_back("block_size", block);
    return more;
  }
};

// `fusion`: as the attribute. Otherwise a third layer gates, if there is one.
void check(const Form& form, const std::string& activation, int64_t fusion, bool has_third) {
  SCOPED_TRACE(activation + " " + std::to_string(form.bits) + " bits, blocks of " +
               std::to_string(form.block) + (form.has_zeros ? " with zero points" : ""));
  std::mt19937 random(static_cast<uint32_t>(form.bits + form.block));
  const int64_t first_rows = fusion == 0 ? kInner : 2 * kInner;
  const Layer first = form.draw(first_rows, kHidden, random);
  const Layer second = form.draw(kHidden, kInner, random);
  const Layer third = form.draw(kInner, kHidden, random);
  const Tensor x = random_floats({kRows, kHidden}, 1), router = random_floats({kRows, kExperts}, 2);
  const Tensor bias1 = random_floats({kExperts, first_rows}, 3);
  const Tensor bias2 = random_floats({kExperts, kHidden}, 4);
  const auto if_third = [&](const Tensor& given) {
    return has_third ? std::optional(given) : std::nullopt;
  };
  const Arguments floats = {x,
                            router,
                            form.dequantized(first),
                            bias1,
                            form.dequantized(second),
                            bias2,
                            if_third(form.dequantized(third))};
  const Arguments bytes = {x,
                           router,
                           form.weights(first),
                           form.scales(first),
                           bias1,
                           form.weights(second),
                           form.scales(second),
                           bias2,
                           if_third(form.weights(third)),
                           if_third(form.scales(third)),
                           std::nullopt,
                           form.zeros(first),
                           form.zeros(second),
                           has_third ? form.zeros(third) : std::nullopt};
  const auto given = [](Arguments all) {
    while (!all.back()) all.pop_back();
    return all;
  };
  const Attributes attributes = {{"activation_type", activation},
                                 {"k", int64_t{2}},
                                 {"normalize_routing_weights", int64_t{1}},
                                 {"swiglu_fusion", fusion}};
  const Tensor expected = run_microsoft_one("MoE", given(floats), attributes);
  EXPECT_EQ(difference(run_microsoft_one("QMoE", given(bytes), form.attributes(attributes)),
                       expected, 1e-5, 1e-5),
            "");
}

TEST(QMoE, DequantisesWhatMoEMultipliesBy) {
  for (const int64_t bits : {4, 8}) {
    for (const int64_t block : {0, 16, 32}) {
      for (const bool has_zeros : {false, true}) {
        const Form form = {.bits = bits, .block = block, .has_zeros = has_zeros};
        check(form, "relu", 0, false);
        check(form, "silu", 0, true);
        check(form, "swiglu", 0, true);
        check(form, "swiglu", 1, false);
        check(form, "swiglu", 2, false);
      }
    }
  }
}

TEST(QMoE, RefusesWhatItDoesNotCompute) {
  const Form form;
  std::mt19937 random(1);
  const Layer first = form.draw(kInner, kHidden, random);
  const Layer second = form.draw(kHidden, kInner, random);
  const Arguments inputs = {random_floats({kRows, kHidden}, 1),
                            random_floats({kRows, kExperts}, 2),
                            form.weights(first),
                            form.scales(first),
                            std::nullopt,
                            form.weights(second),
                            form.scales(second)};
  const auto refused = [](const Arguments& given, const Attributes& attributes) {
    return run_unchecked("QMoE", given, attributes).message;
  };
  EXPECT_EQ(refused(inputs, {}), "");
  EXPECT_THAT(refused(inputs, {{"expert_weight_bits", int64_t{2}}}), HasSubstr("2 bits"));
  EXPECT_THAT(refused(inputs, {{"block_size", int64_t{24}}}), HasSubstr("block_size=24"));
  EXPECT_THAT(refused(inputs, {{"quant_type", "fp8"}}), HasSubstr("quant_type 'fp8'"));
  EXPECT_THAT(refused(inputs, {{"expert_weight_bits", int64_t{8}}}), HasSubstr("fc1"));
  Arguments others = inputs;
  others[3] = random_floats({kExperts, kInner, 2}, 3);
  EXPECT_THAT(refused(others, {}), HasSubstr("fc1_scales has the shape [3,20,2]"));
}

}  // namespace
}  // namespace ephost::test::qmoe_test
