// Models with QuantizeLinear and DequantizeLinear, drawn at random, through the C ABI: what the
// provider computes in integers differs from the reference, which computes in double, by one step
// of the output at most.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test::quantized_operators_test {
namespace {

// A net of quantised values, all drawn from one seed.
class QuantizedNet {
 public:
  explicit QuantizedNet(uint32_t seed) : net_(seed), random_(seed) {}

  Net& net() { return net_; }
  [[nodiscard]] double step() const { return step_; }
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(random_()) / 4294967295.0;
  }
  bool chance() { return integer(0, 1) == 1; }
  void use_signed_activations(bool yes) { type_ = yes ? EPH_ELEMENT_INT8 : EPH_ELEMENT_UINT8; }

  // The value quantised and dequantised, with parameters that suit its range.
  uint32_t quantized(uint32_t x) {
    const auto& data = net_.value(x).data;
    const auto [low, high] = std::minmax_element(data.begin(), data.end());
    step_ = step_for(std::min(*low, 0.0), *high);
    return net_.round_trip(x, step_, zero_point_for(std::min(*low, 0.0)), type_);
  }
  // An input of numbers that a quantisation keeps, so that no rounding decides the results.
  uint32_t input(const Shape& shape) {
    step_ = step_for(-1, 1);
    const int64_t zero_point = zero_point_for(-1);
    std::vector<float> data(count(shape));
    for (float& value : data) {
      value = static_cast<float>(least() + integer(0, 255) - zero_point) * step_;
    }
    return net_.round_trip(net_.input_of(shape, data), step_, zero_point, type_);
  }

  // Dequantised weights with one scale, or one for each index of the axis.
  uint32_t weights(const Shape& shape, int64_t axis, bool may_have_zero_point = false) {
    const bool is_unsigned = integer(0, 3) == 0;
    const bool is_per_channel = chance();
    std::vector<int64_t> data(count(shape));
    for (int64_t& value : data) value = is_unsigned ? integer(0, 255) : integer(-128, 127);
    const std::size_t scales =
        is_per_channel ? static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]) : 1;
    scales_.assign(scales, 0);
    for (float& scale : scales_) scale = static_cast<float>(real(0.002, 0.01));
    const int64_t shift = may_have_zero_point ? integer(-9, 9) : 0;
    const std::vector<int64_t> zero_points(scales, (is_unsigned ? 128 : 0) + shift);
    const uint32_t stored =
        net_.integers(shape, is_unsigned ? EPH_ELEMENT_UINT8 : EPH_ELEMENT_INT8, data);
    return net_.dequantized(stored, scales_, zero_points, axis);
  }
  // A bias for the last input and weights: in 32 bits, or float.
  uint32_t bias(int64_t channels) {
    if (integer(0, 2) == 0) return net_.weights({channels}, -1, 1);
    std::vector<float> scales(scales_.size());
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = scales_[i] * step_;
    std::vector<int64_t> data(static_cast<std::size_t>(channels));
    for (int64_t& value : data) value = integer(-20000, 20000);
    const std::vector<int64_t> zero_points(scales.size(), 0);
    return net_.dequantized(net_.integers({channels}, EPH_ELEMENT_INT32, data), scales, zero_points,
                            0);
  }
  uint32_t maybe_activated(uint32_t x) {
    switch (integer(0, 4)) {
      case 0:
        return net_.add("Relu", {x});
      case 1:
        return net_.add("Clip", {x, net_.scalar(0), net_.scalar(static_cast<float>(real(0.5, 6)))});
      case 2:
        return net_.add("LeakyRelu", {x}, {{"alpha", 0.25F}});
      default:
        return x;
    }
  }

  // Marks a quantised value as the output and compares it with the reference, in steps.
  // `inherited` is by how much an earlier rounding may change the value.
  void expect_within_one_step(uint32_t output, double inherited = 0) {
    net_.output(output);
    ProviderSession session(1);
    const FakeClaims claims = session.claims(net_.graph());
    for (const auto& [node, reason] : claims.declined) {
      ADD_FAILURE() << net_.graph().op_type(node) << " was declined: " << reason;
    }
    const auto partitions = session.compile(net_.graph());
    ASSERT_EQ(partitions.size(), 1U);
    const std::vector<float> result = partitions[0]->run(net_)[0];
    const std::vector<double>& expected = net_.value(output).data;
    std::size_t differences = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      ASSERT_NEAR(result[i], expected[i], step_ * 1.01 + inherited)
          << "element " << i << ", step " << step_;
      if (std::abs(result[i] - expected[i]) > step_ / 2) ++differences;
    }
    EXPECT_LE(differences, 2 + result.size() / 50);
    expect_the_same_from_a_context(session, partitions, result);
  }

 private:
  void expect_the_same_from_a_context(ProviderSession& session,
                                      const std::vector<std::unique_ptr<Partition>>& partitions,
                                      const std::vector<float>& expected) {
    const AlignedBytes payload(session.write(partitions).payloads.at(0));
    FakeError error;
    int32_t code = EPH_OK;
    const auto restored = session.restore(payload, "part0", *partitions[0]->graph, error, code);
    ASSERT_NE(restored, nullptr) << error.message;
    EXPECT_EQ(restored->run(net_)[0], expected);
  }

  [[nodiscard]] int64_t least() const { return type_ == EPH_ELEMENT_INT8 ? -128 : 0; }
  float step_for(double low, double high) {
    return static_cast<float>(std::max(high - low, 1e-3) / 255 * real(0.8, 1.5));
  }
  // A zero point for the step that was chosen last; now and then any, so that much saturates.
  int64_t zero_point_for(double low) {
    if (integer(0, 3) == 0) return least() + integer(0, 255);
    return least() + std::min<int64_t>(std::lround(-low / step_), 255);
  }

  Net net_;
  std::mt19937 random_;
  int32_t type_ = EPH_ELEMENT_UINT8;
  float step_ = 0;             // of the value quantised last
  std::vector<float> scales_;  // of the weights drawn last
};

// Calls body with nets of both types of activations.
template <class Body>
void for_random_nets(uint32_t rounds, const Body& body) {
  for (uint32_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QuantizedNet net(seed);
    net.use_signed_activations(net.chance());
    body(net);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

uint32_t convolution(QuantizedNet& q, uint32_t x, int64_t outputs, int64_t groups) {
  const Shape& shape = q.net().shape(x);
  const int64_t kernel = q.integer(1, 3), dilation = kernel > 1 ? q.integer(1, 2) : 1;
  const int64_t reach = (kernel - 1) * dilation + 1;
  const uint32_t w = q.weights({outputs, shape[1] / groups, kernel, kernel}, 0);
  std::vector<uint32_t> inputs = {x, w};
  if (q.chance()) inputs.push_back(q.bias(outputs));
  std::vector<int64_t> pads(4);
  for (int64_t& pad : pads) pad = q.integer(0, reach - 1);
  const int64_t stride = q.integer(1, 2);
  return q.net().add("Conv", inputs,
                     {{"group", groups},
                      {"pads", pads},
                      {"strides", std::vector<int64_t>{stride, stride}},
                      {"dilations", std::vector<int64_t>{dilation, dilation}}});
}

TEST(QuantizedOperators, ConvolutionsAreWithinOneStep) {
  for_random_nets(60, [](QuantizedNet& q) {
    const uint32_t x =
        q.input({q.integer(1, 2), q.integer(1, 40), q.integer(5, 9), q.integer(5, 9)});
    const uint32_t y = q.maybe_activated(convolution(q, x, q.integer(1, 40), 1));
    q.expect_within_one_step(q.quantized(y));
  });
}

TEST(QuantizedOperators, ConvolutionsInGroupsAreWithinOneStep) {
  for_random_nets(40, [](QuantizedNet& q) {
    const int64_t groups = q.integer(2, 20), depth = q.chance() ? 1 : q.integer(1, 4);
    const uint32_t x = q.input({1, groups * depth, q.integer(5, 9), q.integer(5, 9)});
    const uint32_t y = convolution(q, x, groups * (q.chance() ? depth : 1), groups);
    q.expect_within_one_step(q.quantized(q.maybe_activated(y)));
  });
}

// oneDNN 2.6.3 stores wrong sums of some such weights (plugins/onednn/safe_reorder.h).
TEST(QuantizedOperators, ConvolutionsInDeepGroupsAreWithinOneStep) {
  for_random_nets(60, [](QuantizedNet& q) {
    const int64_t groups = int64_t{1} << q.integer(1, 3);
    const bool is_square = q.chance();
    const int64_t depth = is_square ? 8 : q.integer(17, 40);
    const int64_t outputs = is_square ? 8 : groups * q.integer(1, 4);
    const uint32_t x = q.input({1, groups * depth, q.integer(5, 7), q.integer(5, 7)});
    q.expect_within_one_step(q.quantized(convolution(q, x, outputs, groups)));
  });
}

TEST(QuantizedOperators, ProductsWithConstantsAreWithinOneStep) {
  for_random_nets(60, [](QuantizedNet& q) {
    const int64_t rows = q.integer(1, 20), terms = q.integer(1, 70), columns = q.integer(1, 40);
    Net& net = q.net();
    uint32_t y = 0;
    if (q.chance()) {
      const bool is_transposed = q.chance();
      const uint32_t x = q.input({rows, terms});
      const uint32_t w = is_transposed ? q.weights({columns, terms}, 0, true)
                                       : q.weights({terms, columns}, 1, true);
      std::vector<uint32_t> inputs = {x, w};
      if (q.chance()) inputs.push_back(q.bias(columns));
      y = net.add("Gemm", inputs, {{"transB", int64_t{is_transposed}}});
    } else {
      const uint32_t x = q.input({q.integer(1, 3), rows, terms});
      y = net.add("MatMul", {x, q.weights({terms, columns}, 1, true)});
    }
    q.expect_within_one_step(q.quantized(q.maybe_activated(y)));
  });
}

TEST(QuantizedOperators, ProductsOfActivationsAreWithinOneStep) {
  for_random_nets(30, [](QuantizedNet& q) {
    const int64_t batch = q.integer(1, 3), heads = q.integer(1, 3);
    const int64_t rows = q.integer(1, 20), terms = q.integer(1, 40), columns = q.integer(1, 30);
    const uint32_t a = q.input({batch, heads, rows, terms});
    uint32_t b = q.chance() ? q.input({batch, heads, terms, columns})
                            : q.net().add("Transpose", {q.input({batch, heads, columns, terms})},
                                          {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
    q.expect_within_one_step(q.quantized(q.net().add("MatMul", {a, b})));
  });
}

// The same elements behind an operator for which the provider takes a partition.
uint32_t pooled(Net& net, uint32_t x) {
  return net.add("MaxPool", {x}, {{"kernel_shape", std::vector<int64_t>{1, 1}}});
}

TEST(QuantizedOperators, ArithmeticIsWithinOneStep) {
  for_random_nets(40, [](QuantizedNet& q) {
    const Shape shape = {1, q.integer(1, 20), q.integer(1, 6), q.integer(1, 6)};
    const uint32_t a = q.input(shape);
    const uint32_t b = q.chance()   ? q.input(shape)
                       : q.chance() ? q.net().input(shape)
                                    : q.input({1, shape[1], 1, 1});
    const std::string type = q.integer(0, 3) == 0 ? "Mul" : q.chance() ? "Add" : "Sub";
    q.expect_within_one_step(
        q.quantized(pooled(q.net(), q.maybe_activated(q.net().add(type, {a, b})))));
  });
}

TEST(QuantizedOperators, BatchNormalizationsAreWithinOneStep) {
  for_random_nets(20, [](QuantizedNet& q) {
    const uint32_t x = q.input({1, q.integer(1, 40), q.integer(1, 6), q.integer(1, 6)});
    const uint32_t y = q.maybe_activated(q.net().batch_norm(pooled(q.net(), x)));
    q.expect_within_one_step(q.quantized(y));
  });
}

TEST(QuantizedOperators, PoolingIsWithinOneStep) {
  for_random_nets(40, [](QuantizedNet& q) {
    const uint32_t x = q.input({1, q.integer(1, 20), q.integer(4, 8), q.integer(4, 8)});
    const std::vector<int64_t> kernel = {q.integer(2, 3), q.integer(2, 3)};
    const FakeAttributes window = {{"kernel_shape", kernel},
                                   {"pads", std::vector<int64_t>{q.integer(0, 1), 0, 0, 1}},
                                   {"count_include_pad", q.integer(0, 1)}};
    const FakeAttributes plain = {{"kernel_shape", kernel}};
    const uint32_t y = q.chance()   ? q.net().add("GlobalAveragePool", {x})
                       : q.chance() ? q.net().add("AveragePool", {x}, window)
                                    : q.net().add("MaxPool", {x}, plain);
    q.expect_within_one_step(q.quantized(y));
  });
}

TEST(QuantizedOperators, ConcatenationsRequantiseTheirInputs) {
  for_random_nets(30, [](QuantizedNet& q) {
    const int64_t height = q.integer(1, 6), width = q.integer(1, 6);
    std::vector<uint32_t> parts;
    for (int64_t i = 0; i < 3; ++i) parts.push_back(q.input({1, q.integer(1, 9), height, width}));
    const uint32_t y = q.net().add("Concat", parts, {{"axis", int64_t{1}}});
    q.expect_within_one_step(q.quantized(pooled(q.net(), y)));
  });
}

TEST(QuantizedOperators, ViewsKeepTheIntegers) {
  for_random_nets(20, [](QuantizedNet& q) {
    Net& net = q.net();
    const uint32_t x = q.input({1, 4, q.integer(1, 6), 6});
    const uint32_t t = net.add(
        "Transpose", {net.add("MaxPool", {x}, {{"kernel_shape", std::vector<int64_t>{1, 2}}})},
        {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
    const uint32_t r = net.add("Reshape", {t, net.ints({-1, 4})});
    q.expect_within_one_step(q.quantized(r));
  });
}

TEST(QuantizedOperators, FloatSumsAreQuantisedAsTheyAreStored) {
  for_random_nets(20, [](QuantizedNet& q) {
    Net& net = q.net();
    const Shape shape = {2, q.integer(1, 9), q.integer(1, 30)};
    const uint32_t x = q.input(shape), w = q.weights({shape[2], shape[2]}, 1);
    const uint32_t product = q.quantized(net.add("MatMul", {x, w}));
    const double inherited = 1.2 * q.step();  // the slope of GELU is at most that
    const uint32_t sum = net.add("Add", {product, net.weights({shape[2]})});
    const uint32_t y =
        net.add("Transpose", {net.gelu(sum)}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
    q.expect_within_one_step(q.quantized(y), inherited);
  });
}

}  // namespace
}  // namespace ephost::test::quantized_operators_test
