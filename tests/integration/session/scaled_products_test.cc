// Compares random products that quantise as they run, once as one operator and once as written.

#include <cmath>
#include <random>

#include "tests/integration/session/quantization_sample.h"

namespace ephost::scaled_products_test {
namespace {

using graph::Shape;
using graph::testing::GraphBuilder;
using graph::testing::make_tensor;
using graph::testing::tensor_type;
using test::bytes;
using test::kFormer;
using test::without;
using ::testing::ElementsAre;

struct Draw {
  explicit Draw(uint32_t seed) : engine(seed) {}
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); }
  std::vector<float> floats(size_t count) {
    std::vector<float> numbers(count);
    for (float& number : numbers) number = static_cast<float>(between(1, 1000)) / 256;
    return numbers;
  }
  std::vector<int> bytes_of(ElementType type, size_t count) {
    const int low = type == ElementType::kInt8 ? -128 : 0;
    std::vector<int> numbers(count);
    for (int& number : numbers) number = between(low, low + 255);
    return numbers;
  }
  std::mt19937 engine;
};

// Two products of one quantised value, the second with a bias.
graph::Model model_of_products(Draw& draw) {
  const int64_t k = draw.between(1, 40);
  const int64_t n = draw.between(1, 20);
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{draw.between(1, 3), 5, k}))
      .node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  for (const std::string p : {"first_", "second_"}) {
    const ElementType type = draw.between(0, 1) == 0 ? ElementType::kInt8 : ElementType::kUint8;
    const size_t scales = draw.between(0, 1) == 0 ? 1 : static_cast<size_t>(n);
    const Shape of_scales = scales == 1 ? Shape{} : Shape{n};
    const auto count = static_cast<size_t>(k * n);
    builder.constant(p + "w", bytes(type, {k, n}, draw.bytes_of(type, count)))
        .constant(p + "ws", make_tensor<float>(ElementType::kFloat, of_scales, draw.floats(scales)))
        .constant(p + "wz", bytes(type, of_scales, draw.bytes_of(type, scales)))
        .node("MatMulInteger", {"q", p + "w", "z", p + "wz"}, {p + "sums"})
        .node("Cast", {p + "sums"}, {p + "cast"})
        .attribute("to", int64_t{1})
        .node("Mul", {"s", p + "ws"}, {p + "scale"})
        .node("Mul", {p + "cast", p + "scale"}, {p + "scaled"});
  }
  return test::model_of(
      builder
          .constant("bias", make_tensor<float>(ElementType::kFloat, {n},
                                               draw.floats(static_cast<size_t>(n))))
          .node("Add", {"second_scaled", "bias"}, {"y"})
          .output("first_scaled")
          .output("y")
          .build());
}

class ScaledProductResults : public test::QuantizationSession {};

TEST_F(ScaledProductResults, AreThoseOfTheNodesAsWritten) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    model_ = test::save(folder_, model_of_products(draw));
    ASSERT_THAT(
        operators_at(session::Stage::kPlanned),
        ElementsAre("DynamicQuantizeLinear", "MatMulIntegerToFloat", "MatMulIntegerToFloat"));
    ASSERT_EQ(operators_at(session::Stage::kPlanned, without(kFormer)).size(), 10U);
    const std::vector<Value> formed = run();
    const std::vector<Value> plain = run(without(kFormer));
    ASSERT_EQ(formed.size(), 2U);
    for (size_t i = 0; i < formed.size(); ++i) {
      ASSERT_THAT(formed[i].shape(), ::testing::ElementsAreArray(plain[i].shape()));
      const auto actual = formed[i].elements<float>();
      const auto expected = plain[i].elements<float>();
      for (size_t e = 0; e < actual.size(); ++e) {
        // A sum and a bias of about this size may be rounded once instead of twice.
        ASSERT_NEAR(actual[e], expected[e], 1e-6 * (4 + std::abs(expected[e]))) << e;
      }
    }
  }
}

}  // namespace
}  // namespace ephost::scaled_products_test
