// NaN and infinities through compiled partitions. They lie at random places of inputs and
// constants, and have to come out where the reference, which computes one operator after the other
// with numbers of twice the width, has them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/plugins/dnnl/open_net.h"

namespace ephost::test::nan_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void expect_same(const std::vector<float>& result, const Array& expected, double tolerance = 2e-3) {
  ASSERT_EQ(result.size(), expected.data.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double number = expected.data[i];
    if (std::isnan(number)) {
      ASSERT_TRUE(std::isnan(result[i])) << "element " << i << " is " << result[i];
    } else if (std::isinf(number)) {
      ASSERT_EQ(static_cast<double>(result[i]), number) << "element " << i;
    } else {
      ASSERT_NEAR(result[i], number, tolerance * (1 + std::abs(number))) << "element " << i;
    }
  }
}

// A net with special numbers, drawn from a seed. Convolutions have a group for each channel, so
// that NaN does not reach every channel at once.
class SpecialNet {
 public:
  explicit SpecialNet(uint32_t seed) : net_(seed), random_(seed) {}

  Net& net() { return net_; }
  int64_t roll(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  // Numbers between -1 and 1, of which one in `rarity` is special.
  std::vector<float> numbers(const Shape& shape, int64_t rarity) {
    std::vector<float> data(count(shape));
    for (float& number : data) {
      number = static_cast<float>(roll(-1000, 1000)) / 1000;
      if (roll(1, rarity) == 1)
        number = roll(0, 2) == 0 ? (roll(0, 1) == 0 ? kInfinity : -kInfinity) : kNan;
    }
    return data;
  }
  uint32_t input(const Shape& shape) { return net_.input_of(shape, numbers(shape, 40)); }
  uint32_t depthwise(uint32_t x) {
    const int64_t channels = net_.shape(x)[1];
    return net_.conv(x, channels, 1, {}, channels);
  }

  uint32_t step(uint32_t x) {
    const uint32_t y = roll(0, 1) == 0 ? depthwise(x) : x;
    switch (roll(0, 25)) {
      case 0:
      case 1:
        return net_.add("Relu", {y});
      case 2:
        return net_.add("Clip", {y, net_.scalar(-0.25F), net_.scalar(0.5F)});
      case 3:
        return net_.add("LeakyRelu", {y}, {{"alpha", 0.1F}});
      case 4:
        return net_.add("Elu", {y});
      case 5:
        return net_.add("Tanh", {y});
      case 6:
        return net_.add("Sigmoid", {y});
      case 7:
        return net_.add("Exp", {y});
      case 8:
        return net_.add("Log", {y});
      case 9:
        return net_.add("Sqrt", {y});
      case 10:
        return net_.add("Abs", {y});
      case 11:
        return net_.add("HardSwish", {y});
      case 12:
        return net_.gelu(y);
      case 13:
        return net_.add("Max", {y, net_.constant(net_.shape(y), numbers(net_.shape(y), 40))});
      case 14:
        return net_.add("Min", {y, net_.constant({1, net_.shape(y)[1], 1, 1},
                                                 numbers({net_.shape(y)[1]}, 20))});
      case 15:
        return net_.add("Max", {y, net_.scalar(0.1F)});
      case 16:
        return net_.add("Softmax", {y}, {{"axis", roll(1, 3)}});
      case 17:
        return net_.add("LogSoftmax", {y}, {{"axis", roll(1, 3)}});
      case 18:
        return pooled(y, "MaxPool");
      case 19:
        return pooled(y, "AveragePool");
      case 20:
        return reduced(y, "ReduceMax");
      case 21:
        return reduced(y, "ReduceMin");
      case 22:
        return reduced(y, "ReduceMean");
      case 23:
        return net_.add("Add", {y, net_.add("Relu", {depthwise(y)})});
      case 24:
        return net_.batch_norm(y);
      default:
        return net_.add("Mul", {y, net_.constant(net_.shape(y), numbers(net_.shape(y), 60))});
    }
  }

 private:
  uint32_t pooled(uint32_t x, const std::string& op_type) {
    if (net_.shape(x)[2] < 2 || net_.shape(x)[3] < 2) return net_.add("Relu", {x});
    return net_.add(op_type, {x},
                    {{"kernel_shape", std::vector<int64_t>{2, 2}},
                     {"pads", std::vector<int64_t>{roll(0, 1), roll(0, 1), 1, 0}}});
  }
  uint32_t reduced(uint32_t x, const std::string& op_type) {
    return net_.add(op_type, {x},
                    {{"axes", std::vector<int64_t>{roll(1, 3)}}, {"keepdims", int64_t{1}}});
  }

  Net net_;
  std::mt19937 random_;
};

TEST(Nan, ComesOutWhereTheReferenceHasIt) {
  std::size_t with_nan = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SpecialNet special(seed);
    uint32_t x = special.input(
        {special.roll(1, 2), special.roll(1, 20), special.roll(2, 6), special.roll(2, 6)});
    for (int64_t steps = special.roll(1, 4); steps > 0; --steps) x = special.step(x);
    x = special.depthwise(x);
    Net& net = special.net();
    net.output(x);
    ProviderSession session(special.roll(1, 3));
    const auto partitions = session.compile(net.graph());
    if (partitions.size() != 1 || partitions[0]->graph->outputs().size() != 1) continue;
    if (partitions[0]->graph->node_count() != net.graph().node_count()) continue;
    // Twice, as what the first run makes is used again.
    for (int run = 0; run < 2; ++run) expect_same(partitions[0]->run(net)[0], net.value(x));
    if (::testing::Test::HasFatalFailure()) return;
    for (const double number : net.value(x).data) with_nan += std::isnan(number) ? 1 : 0;
    if (seed % 5 != 0) continue;
    const AlignedBytes payload(session.write(partitions).payloads.at(0));
    FakeError error;
    int32_t code = EPH_OK;
    const auto restored = session.restore(payload, "part0", *partitions[0]->graph, error, code);
    ASSERT_NE(restored, nullptr) << error.message;
    expect_same(restored->run(net)[0], net.value(x));
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(with_nan, 100U);
}

// Whole windows and rows of one infinity, or of the outermost number, beside ordinary ones.
std::vector<float> with_infinite_planes(const Shape& shape, uint32_t seed) {
  std::vector<float> data = SpecialNet(seed).numbers(shape, 1000000);
  const auto plane = static_cast<std::size_t>(shape[2] * shape[3]);
  const auto row = static_cast<std::size_t>(shape[3]);
  constexpr float kLargest = std::numeric_limits<float>::max();
  const std::vector<float> of_plane = {-kInfinity, kInfinity, -kLargest, kLargest, 0.5F};
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::size_t number = i / plane % 8;
    if (number < of_plane.size()) data[i] = of_plane[number];
    if (number == 6 && i % plane / row < 3) data[i] = i % 2 == 0 ? -kInfinity : kInfinity;
    if (number == 7 && i % plane / row == 1) data[i] = -kInfinity;
  }
  return data;
}

TEST(Nan, InfinitiesAreTheMaximumOfInfinitiesAlone) {
  using Axes = std::vector<int64_t>;
  const std::vector<std::pair<std::string, FakeAttributes>> cases = {
      {"MaxPool", {{"kernel_shape", Axes{2, 2}}, {"strides", Axes{2, 2}}}},
      {"MaxPool", {{"kernel_shape", Axes{3, 3}}, {"pads", Axes{1, 1, 1, 1}}}},
      {"MaxPool", {{"kernel_shape", Axes{2, 2}}, {"dilations", Axes{2, 2}}}},
      {"GlobalMaxPool", {}},
      {"ReduceMax", {{"axes", Axes{2, 3}}, {"keepdims", int64_t{1}}}},
      {"ReduceMax", {{"axes", Axes{3}}, {"keepdims", int64_t{1}}}},
      {"ReduceMax", {{"axes", Axes{0}}, {"keepdims", int64_t{1}}}},
      {"ReduceMin", {{"axes", Axes{2, 3}}, {"keepdims", int64_t{1}}}},
      {"ReduceMin", {{"axes", Axes{1}}, {"keepdims", int64_t{1}}}}};
  for (const int64_t channels : {8, 21}) {
    for (const auto& [op_type, attributes] : cases) {
      for (const char* next : {"", "LeakyRelu", "Relu", "Neg"}) {
        SCOPED_TRACE(op_type + " " + next + " " + std::to_string(channels));
        Net net;
        const Shape shape = {2, channels, 6, 5};
        const uint32_t x = net.input_of(shape, with_infinite_planes(shape, 7));
        // Keeps every number, and is what the provider takes the others for.
        uint32_t y = net.add("AveragePool", {x}, {{"kernel_shape", Axes{1, 1}}});
        y = net.add(op_type, {y}, attributes);
        if (*next != 0) y = net.add(next, {y});
        net.output(y);
        ProviderSession session(2);
        const auto partitions = session.compile(net.graph());
        ASSERT_EQ(partitions.size(), 1U);
        ASSERT_EQ(partitions[0]->graph->node_count(), net.graph().node_count());
        for (int run = 0; run < 2; ++run) expect_same(partitions[0]->run(net)[0], net.value(y));
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Nan, ThatAnOverflowInsideMakesIsKept) {
  Net net;
  const uint32_t x = net.input_of({1, 2, 1, 4}, {3e38F, 1, 3e38F, 1, 3e38F, 1, 1, 1});
  const uint32_t sums = net.add("Conv", {x, net.constant({2, 2, 1, 1}, {4, 4, 8, 8})});
  const uint32_t difference =
      net.add("Conv", {sums, net.constant({1, 2, 1, 1}, {1, -1})});  // infinity - infinity
  net.output(net.add("Relu", {difference}));
  ProviderSession session(1);
  const auto partitions = session.compile(net.graph());
  const std::vector<float> result = partitions.at(0)->run(net)[0];
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_EQ(result[1], 0);
  EXPECT_TRUE(std::isnan(result[2]));
  EXPECT_EQ(result[3], 0);
}

TEST(Nan, IsQuantisedToTheZeroPointInsideOfFusedGroups) {
  for (const char* op_type : {"Add", "Sub", "Mul"}) {
    for (const int64_t zero_point : {0, 9}) {
      SCOPED_TRACE(op_type + std::to_string(zero_point));
      Net net;
      SpecialNet special(3);
      const Shape shape = {1, 8, 4, 4};
      const uint32_t q = net.round_trip(net.input(shape), 0.0625F, 0, EPH_ELEMENT_INT8);
      const uint32_t conv = net.conv(q, 8, 1);
      const uint32_t other = net.input_of(shape, special.numbers(shape, 10));
      const uint32_t mixed = net.add(op_type, {conv, other});
      const uint32_t y =
          net.round_trip(net.add("Relu", {mixed}), 0.0625F, zero_point, EPH_ELEMENT_UINT8);
      net.output(y);
      ProviderSession session(1);
      const auto partitions = session.compile(net.graph());
      ASSERT_EQ(partitions.size(), 1U);
      const std::vector<float> result = partitions[0]->run(net)[0];
      for (std::size_t i = 0; i < result.size(); ++i) {
        ASSERT_NEAR(result[i], net.value(y).data[i], 0.0626) << i;
        if (!std::isnan(net.value(mixed).data[i])) continue;
        ASSERT_EQ(result[i], 0) << i;
      }
    }
  }
}

TEST(Nan, GoesThroughRowsOfAnyNumber) {
  for (const char* activation : {"Relu", "Clip", "Exp", "Max", "Min", "Sigmoid"}) {
    SCOPED_TRACE(activation);
    OpenNet net;
    const uint32_t x = net.input({-1, 16});
    uint32_t y = net.add("MatMul", {x, net.weights({16, 24})});
    y = net.add("Add", {y, net.weights({24})});
    const std::string name = activation;
    if (name == "Clip") {
      y = net.add("Clip", {y, net.scalar(-0.1F), net.scalar(0.1F)});
    } else if (name == "Max" || name == "Min") {
      y = net.add(name, {y, net.weights({24})});
    } else {
      y = net.add(name, {y});
    }
    y = net.add("MatMul", {y, net.weights({24, 8})});
    y = net.add("Relu", {y});
    net.output(y);
    ProviderSession session(2);
    const auto partitions = session.compile(net.graph());
    // What the library cannot compute so stays with the CPU provider, between two partitions.
    const bool may_be_left = name == "Max" || name == "Min";
    if (may_be_left && partitions.size() == 2) continue;
    ASSERT_EQ(partitions.size(), 1U);
    ComputationState state(partitions[0]->computation);
    for (const int64_t rows : {1, 7, 40}) {
      SpecialNet special(static_cast<uint32_t>(rows));
      const std::vector<float> data = special.numbers({rows, 16}, 60);
      const Array input = {{rows, 16}, {data.begin(), data.end()}};
      const RunResult result = state.run(input);
      ASSERT_EQ(result.code, EPH_OK) << result.message;
      expect_same(result.data, net.value_for(y, input));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Whether oneDNN's Relu keeps NaN depends on the instruction set.
TEST(Nan, MayBeLostWhereTheOptionLeavesItToTheLibrary) {
  Net net;
  const uint32_t x = net.input_of({1, 1, 2, 2}, {kNan, -1, 2, 3});
  net.output(net.add("Relu", {net.add("Conv", {x, net.constant({1, 1, 1, 1}, {1})})}));
  ProviderSession session(1, 1, "library");
  const auto partitions = session.compile(net.graph());
  const std::vector<float> result = partitions.at(0)->run(net)[0];
  EXPECT_TRUE(result[0] == 0 || std::isnan(result[0])) << result[0];
  EXPECT_EQ((std::vector<float>{result.begin() + 1, result.end()}), (std::vector<float>{0, 2, 3}));
}

}  // namespace
}  // namespace ephost::test::nan_test
