// Compares random products with weights of few bits in blocks, once with the weights as they are
// stored and once dequantised.

#include <cmath>
#include <random>

#include "tests/integration/session/quantization_sample.h"

namespace ephost::block_products_test {
namespace {

using graph::Shape;
using graph::Tensor;
using graph::testing::GraphBuilder;
using graph::testing::make_tensor;
using graph::testing::tensor_type;
using test::kFormer;
using test::without;
using ::testing::ElementsAre;

class BlockGroup {
 public:
  explicit BlockGroup(uint32_t seed) : engine_(seed) {}

  // Two products that share their weights.
  graph::Model model() {
    const int64_t k = draw(1, 100);
    const int64_t n = draw(1, 20);
    const int64_t block = int64_t{16} << draw(0, 2);
    const int64_t blocks = (k - 1) / block + 1;
    const ElementType type =
        std::vector{ElementType::kInt4, ElementType::kUint4, ElementType::kInt8,
                    ElementType::kUint8}[static_cast<size_t>(draw(0, 3))];
    std::vector<float> scales(static_cast<size_t>(blocks * n));
    for (float& scale : scales) scale = static_cast<float>(draw(1, 64)) / 512;
    GraphBuilder builder;
    builder.input("x", tensor_type(ElementType::kFloat, Shape{draw(1, 3), draw(1, 20), k}))
        .input("v", tensor_type(ElementType::kFloat, Shape{k}))
        .constant("w", codes(type, {k, n}))
        .constant("s", make_tensor<float>(ElementType::kFloat, {blocks, n}, scales))
        .constant("z", codes(type, {blocks, n}));
    if (draw(0, 1) == 0) {
      builder.node("DequantizeLinear", {"w", "s"}, {"fw"});
    } else {
      builder.node("DequantizeLinear", {"w", "s", "z"}, {"fw"});
    }
    builder.attribute("axis", int64_t{0})
        .attribute("block_size", block)
        .node("MatMul", {"x", "fw"}, {"y"})
        .node("MatMul", {"v", "fw"}, {"u"})
        .output("y")
        .output("u");
    graph::Model model = test::model_of(builder.build());
    model.opset_imports[""] = 21;
    model.ir_version = 10;
    return model;
  }

 private:
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  Tensor codes(ElementType type, const Shape& shape) {
    const auto bits = static_cast<int64_t>(graph::element_bits(type));
    const int64_t count = *graph::element_count(shape);
    std::vector<uint8_t> bytes(static_cast<size_t>((count * bits + 7) / 8));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(draw(0, 255));
    if (count * bits % 8 != 0) bytes.back() &= 15;
    const auto length = static_cast<int64_t>(bytes.size());
    return {.type = type,
            .shape = shape,
            .data = make_tensor<uint8_t>(ElementType::kUint8, {length}, bytes).data};
  }

  std::mt19937 engine_;
};

class BlockProductResults : public test::QuantizationSession {};

TEST_F(BlockProductResults, AreThoseOfDequantizedWeights) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    model_ = test::save(folder_, BlockGroup(seed).model());
    ASSERT_THAT(operators_at(session::Stage::kPlanned), ElementsAre("MatMulNBits", "MatMulNBits"));
    ASSERT_THAT(operators_at(session::Stage::kPlanned, without(kFormer)),
                ElementsAre("MatMul", "MatMul"));
    const std::vector<Value> formed = run();
    const std::vector<Value> plain = run(without(kFormer));
    ASSERT_EQ(formed.size(), 2U);
    ASSERT_EQ(plain.size(), 2U);
    for (size_t i = 0; i < formed.size(); ++i) {
      ASSERT_THAT(formed[i].shape(), ::testing::ElementsAreArray(plain[i].shape()));
      const auto actual = formed[i].elements<float>();
      const auto expected = plain[i].elements<float>();
      for (size_t e = 0; e < actual.size(); ++e) {
        ASSERT_NEAR(actual[e], expected[e], 1e-3 + 1e-5 * std::abs(expected[e])) << e;
      }
    }
  }
}

}  // namespace
}  // namespace ephost::block_products_test
