// Compares random quantised groups that become one operator on integers with the same in float.

#include <cmath>
#include <random>

#include "tests/integration/session/quantization_sample.h"

namespace ephost::quantized_results_test {
namespace {

using graph::Shape;
using graph::testing::GraphBuilder;
using graph::testing::int64_tensor;
using graph::testing::make_tensor;
using graph::testing::tensor_type;
using test::bytes;
using test::kFormer;
using test::scalar;
using test::without;
using ::testing::Contains;
using ::testing::ElementsAre;

// A random group that becomes one operator.
class RandomGroup {
 public:
  explicit RandomGroup(uint32_t seed) : engine_(seed), is_exact_(draw(0, 1) == 0) {
    x_type_ = byte_type();
    y_type_ = byte_type();
    const int kind = draw(0, 3);
    if (kind == 0) {
      convolution();
    } else if (kind == 3) {
      sum();
    } else if (kind == 1) {
      product();
    } else {
      movement();
    }
  }

  // Whether scales are powers of two, so that float is exact, ties included.
  [[nodiscard]] bool is_exact() const { return is_exact_; }
  [[nodiscard]] const std::string& formed() const { return formed_; }
  [[nodiscard]] graph::Model model() { return test::model_of(builder_.output("y").build()); }

 private:
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  ElementType byte_type() { return draw(0, 1) == 0 ? ElementType::kInt8 : ElementType::kUint8; }
  float scale(float around) {
    const float exact = std::exp2(std::round(std::log2(around)));
    return is_exact_ ? exact : around * static_cast<float>(draw(800, 1200)) / 1000;
  }
  std::vector<int> bytes_of(ElementType type, size_t count) {
    const int low = type == ElementType::kInt8 ? -128 : 0;
    std::vector<int> numbers(count);
    for (int& number : numbers) number = draw(low, low + 255);
    return numbers;
  }

  // Adds the constants `name`_scale and `name`_zero.
  float parameters(const std::string& name, float around, ElementType type) {
    const float number = scale(around);
    builder_.constant(name + "_scale", scalar(number));
    const int middle = type == ElementType::kInt8 ? 0 : 128;
    builder_.constant(name + "_zero", bytes(type, {}, {middle + draw(-20, 20)}));
    return number;
  }
  // x in float, rounded to integers.
  void start(Shape shape) {
    builder_.input("x", tensor_type(ElementType::kFloat, std::move(shape)));
    x_scale_ = parameters("x", 1.0F / 128, x_type_);
    builder_.node("QuantizeLinear", {"x", "x_scale", "x_zero"}, {"qx"})
        .node("DequantizeLinear", {"qx", "x_scale", "x_zero"}, {"fx"});
  }
  // Constant weights and, with scales for each of several channels or without, their scales.
  std::vector<float> weights(const Shape& shape, size_t channels, int64_t axis) {
    const ElementType type = byte_type();
    const size_t count = draw(0, 1) == 0 ? 1 : channels;
    std::vector<float> scales(count);
    for (float& number : scales) number = scale(1.0F / 64);
    builder_.constant("w", bytes(type, shape, bytes_of(type, *graph::element_count(shape))));
    const Shape of_scales = count == 1 ? Shape{} : Shape{static_cast<int64_t>(count)};
    builder_.constant("w_scale", make_tensor<float>(ElementType::kFloat, of_scales, scales));
    const bool has_zero = draw(0, 1) == 0 || type == ElementType::kUint8;
    if (!has_zero) {
      builder_.node("DequantizeLinear", {"w", "w_scale"}, {"fw"});
    } else {
      builder_.constant("w_zero", bytes(type, of_scales, bytes_of(type, count)));
      builder_.node("DequantizeLinear", {"w", "w_scale", "w_zero"}, {"fw"});
    }
    builder_.attribute("axis", axis);
    return scales;
  }
  void finish(double terms) {
    parameters("y", static_cast<float>(std::sqrt(terms)) / 64, y_type_);
    builder_.node("QuantizeLinear", {"fy", "y_scale", "y_zero"}, {"y"});
  }

  void convolution() {
    formed_ = "QLinearConv";
    const int64_t groups = draw(1, 2);
    const int64_t inputs = groups * draw(1, 3);
    const int64_t outputs = groups * draw(1, 3);
    const int64_t kernel = draw(1, 3);
    start({draw(1, 2), inputs, draw(3, 7), draw(3, 7)});
    const Shape shape = {outputs, inputs / groups, kernel, kernel};
    const std::vector<float> scales = weights(shape, static_cast<size_t>(outputs), 0);
    if (draw(0, 1) == 0) {
      builder_.node("Conv", {"fx", "fw"}, {"fy"});
    } else {
      add_bias(scales, static_cast<size_t>(outputs));
      builder_.node("Conv", {"fx", "fw", "fb"}, {"fy"});
    }
    const int64_t pad = draw(0, static_cast<int>(kernel) - 1);
    builder_.attribute("group", groups)
        .attribute("pads", std::vector<int64_t>{pad, 0, 0, pad})
        .attribute("strides", std::vector<int64_t>{draw(1, 2), draw(1, 2)});
    finish(static_cast<double>(kernel * kernel * inputs / groups));
  }
  void add_bias(const std::vector<float>& scales, size_t outputs) {
    std::vector<float> of_bias;
    std::vector<int32_t> numbers;
    for (size_t i = 0; i < outputs; ++i) {
      of_bias.push_back(x_scale_ * scales[scales.size() == 1 ? 0 : i]);
      numbers.push_back(draw(-5000, 5000));
    }
    const Shape shape = {static_cast<int64_t>(outputs)};
    builder_.constant("b", make_tensor<int32_t>(ElementType::kInt32, shape, numbers))
        .constant("b_scale", make_tensor<float>(ElementType::kFloat, shape, of_bias))
        .node("DequantizeLinear", {"b", "b_scale"}, {"fb"})
        .attribute("axis", int64_t{0});
  }
  void product() {
    formed_ = "QLinearMatMul";
    const int64_t inner = draw(1, 40);
    const int64_t columns = draw(1, 9);
    start(draw(0, 1) == 0 ? Shape{draw(1, 5), inner} : Shape{2, draw(1, 5), inner});
    weights({inner, columns}, static_cast<size_t>(columns), draw(0, 1) == 0 ? 1 : -1);
    builder_.node("MatMul", {"fx", "fw"}, {"fy"});
    finish(static_cast<double>(inner));
  }
  void sum() {
    formed_ = "QLinearAdd";
    y_type_ = x_type_;
    start({2, draw(1, 5), draw(1, 700)});
    builder_.constant("w", bytes(x_type_, {1}, bytes_of(x_type_, 1)));
    parameters("w", 1.0F / 64, x_type_);
    builder_.node("DequantizeLinear", {"w", "w_scale", "w_zero"}, {"fw"});
    if (draw(0, 1) == 0) {
      builder_.node("Add", {"fx", "fx"}, {"fy"});
    } else {
      builder_.node("Add", {"fw", "fx"}, {"fy"});
    }
    finish(1);
    is_exact_ = true;
  }
  void movement() {
    start({2, 3, 4, 6});
    switch (draw(0, 2)) {
      case 0:
        formed_ = "Transpose";
        builder_.node("Transpose", {"fx"}, {"fy"})
            .attribute("perm", std::vector<int64_t>{0, 2, 3, 1});
        break;
      case 1:
        formed_ = "Reshape";
        builder_.constant("shape", int64_tensor({4, -1})).node("Reshape", {"fx", "shape"}, {"fy"});
        break;
      default:
        formed_ = "MaxPool";
        builder_.node("MaxPool", {"fx"}, {"fy"})
            .attribute("kernel_shape", std::vector<int64_t>{2, 3})
            .attribute("pads", std::vector<int64_t>{1, 1, 0, 1});
    }
    builder_.node("QuantizeLinear", {"fy", "x_scale", "x_zero"}, {"y"});
    is_exact_ = true;
  }

  std::mt19937 engine_;
  bool is_exact_;
  ElementType x_type_ = ElementType::kUndefined;
  ElementType y_type_ = ElementType::kUndefined;
  std::string formed_;
  float x_scale_ = 0;
  GraphBuilder builder_;
};

std::vector<int> integers_of(const Value& value) {
  if (value.element_type() == ElementType::kUint8) {
    const auto elements = value.elements<uint8_t>();
    return {elements.begin(), elements.end()};
  }
  const auto elements = value.elements<int8_t>();
  return {elements.begin(), elements.end()};
}

class QuantizedResults : public test::QuantizationSession {};

TEST_F(QuantizedResults, AreThoseOfFloatWhateverIsFormed) {
  size_t rounded = 0;
  size_t elements = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGroup group(seed);
    model_ = test::save(folder_, group.model());
    ASSERT_THAT(operators_at(session::Stage::kPlanned),
                ElementsAre("QuantizeLinear", group.formed()));
    ASSERT_THAT(operators_at(session::Stage::kPlanned, without(kFormer)),
                Contains("DequantizeLinear"));
    const std::vector<Value> formed = run();
    const std::vector<Value> plain = run(without(kFormer));
    ASSERT_THAT(formed[0].shape(), ::testing::ElementsAreArray(plain[0].shape()));
    ASSERT_EQ(formed[0].element_type(), plain[0].element_type());
    const std::vector<int> actual = integers_of(formed[0]);
    const std::vector<int> expected = integers_of(plain[0]);
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_LE(std::abs(actual[i] - expected[i]), group.is_exact() ? 0 : 1) << "element " << i;
      if (actual[i] != expected[i]) ++rounded;
    }
    elements += actual.size();
  }
  EXPECT_LT(rounded * 1000, elements);
}

}  // namespace
}  // namespace ephost::quantized_results_test
