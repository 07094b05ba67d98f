// Everything that lowering and fusion can request from oneDNN, compared with the reference: pairs
// and triples of post-ops, each kind of primitive that takes them, tensors in the layouts that
// convolutions choose, and channels that do not fill a vector. Every primitive runs in guarded
// memory. CMakeLists.txt runs this for several instruction sets, as each has kernels of its own.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test::self_check_test {
namespace {

using Ints = std::vector<int64_t>;

// Something that is done to a value, and the resulting value.
struct ChainStep {
  std::string name;
  std::function<uint32_t(Net&, uint32_t)> add;
};

ChainStep node(const std::string& type, const FakeAttributes& attributes = {}) {
  return {type, [=](Net& net, uint32_t x) { return net.add(type, {x}, attributes); }};
}

ChainStep with_scalar(const std::string& type, float scalar) {
  return {type + " " + std::to_string(scalar), [=](Net& net, uint32_t x) {
            return net.add(type, {x, net.scalar(scalar)});
          }};
}

ChainStep clip(float low, float high) {
  return {"Clip", [=](Net& net, uint32_t x) {
            return net.add("Clip", {x, net.scalar(low), net.scalar(high)});
          }};
}

ChainStep gelu() {
  return {"Gelu", [](Net& net, uint32_t x) { return net.gelu(x); }};
}

// A logarithm whose operand is always positive, since results that are not finite are not compared.
ChainStep log_of_positive() {
  return {"Log of positive", [](Net& net, uint32_t x) {
            const uint32_t square = net.add("Pow", {x, net.scalar(2)});
            return net.add("Log", {net.add("Add", {square, net.scalar(0.5F)})});
          }};
}

// One for each function that the library has an algorithm for.
std::vector<ChainStep> functions() {
  return {node("Relu"),
          node("Elu", {{"alpha", 0.5F}}),
          node("Tanh"),
          node("Sigmoid"),
          node("Exp"),
          node("Log"),
          node("Sqrt"),
          with_scalar("Pow", 2),
          node("Abs"),
          clip(-0.25F, 0.75F),
          with_scalar("Add", 0.5F),
          with_scalar("Pow", 3),
          gelu(),
          node("HardSwish")};
}

// The same functions with other parameters, where they have some.
std::vector<ChainStep> variants() {
  return {node("LeakyRelu", {{"alpha", 0.25F}}),
          node("Elu", {{"alpha", 1.5F}}),
          clip(0, 0.5F),
          with_scalar("Mul", -2),
          with_scalar("Div", 0.25F),
          node("Neg"),
          node("Reciprocal")};
}

// The extents of a value that an operand has; it broadcasts over the others.
enum class Extents { kNone, kChannel, kLast, kAllButFirst, kAll };

Shape operand_shape(const Shape& shape, Extents extents) {
  Shape result(shape.size(), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_kept = extents == Extents::kAll || (extents == Extents::kAllButFirst && i > 0) ||
                         (extents == Extents::kChannel && i == 1) ||
                         (extents == Extents::kLast && i + 1 == shape.size());
    if (is_kept) result[i] = shape[i];
  }
  return result;
}

ChainStep arithmetic(const std::string& type, Extents extents) {
  return {type + " operand", [=](Net& net, uint32_t x) {
            return net.add(type, {x, net.input(operand_shape(net.shape(x), extents), 0.5, 2)});
          }};
}

// An addition whose other operand can be added to in place.
ChainStep accumulation() {
  return {"Add in place", [](Net& net, uint32_t x) {
            return net.add("Add", {x, net.add("Tanh", {net.input(net.shape(x))})});
          }};
}

std::vector<ChainStep> arithmetic_of_each_kind() {
  return {arithmetic("Add", Extents::kChannel), arithmetic("Sub", Extents::kLast),
          arithmetic("Mul", Extents::kChannel), arithmetic("Div", Extents::kNone),
          arithmetic("Max", Extents::kLast),    arithmetic("Min", Extents::kAllButFirst),
          arithmetic("Mul", Extents::kAll),     accumulation()};
}

std::vector<ChainStep> operator+(std::vector<ChainStep> a, const std::vector<ChainStep>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Products of `length` terms, about as large as their factors.
uint32_t weights(Net& net, const Shape& shape, int64_t length) {
  const double bound = 1.5 / std::sqrt(static_cast<double>(length));
  return net.weights(shape, -bound, bound);
}

ChainStep conv(int64_t inputs, int64_t outputs, int64_t kernel, int64_t groups = 1) {
  return {
      "Conv", [=](Net& net, uint32_t) {
        const uint32_t x = net.input({1, inputs, kernel + 1, kernel + 1});
        const int64_t depth = inputs / groups;
        const uint32_t w = weights(net, {outputs, depth, kernel, kernel}, depth * kernel * kernel);
        return net.add("Conv", {x, w}, {{"group", groups}});
      }};
}

ChainStep product(const Shape& shape, int64_t width) {
  return {"MatMul", [=](Net& net, uint32_t) {
            const uint32_t w = weights(net, {shape.back(), width}, shape.back());
            return net.add("MatMul", {net.input(shape), w});
          }};
}

// Pooling, normalisations, reductions and views, which take their input in any layout.
std::vector<ChainStep> layout_steps() {
  const FakeAttributes window = {{"kernel_shape", Ints{2, 3}}, {"pads", Ints{1, 0, 0, 1}}};
  std::vector<ChainStep> steps = {
      node("MaxPool", window),
      node("AveragePool", window),
      node("GlobalMaxPool"),
      node("GlobalAveragePool"),
      {"BatchNormalization", [](Net& net, uint32_t x) { return net.batch_norm(x); }},
      node("LRN", {{"size", int64_t{3}}, {"alpha", 0.5F}}),
      node("LogSoftmax", {{"axis", int64_t{1}}}),
      {"LayerNormalization", [](Net& net, uint32_t x) { return net.layer_norm(x); }},
      {"MatMul", [](Net& net, uint32_t x) { return net.linear(x, 7); }},
      {"Concat", [](Net& net, uint32_t x) {
         Shape other = net.shape(x);
         other[1] = 3;
         return net.add("Concat", {x, net.input(other)}, {{"axis", int64_t{1}}});
       }}};
  for (const int64_t axis : {1, 2, 3}) steps.push_back(node("Softmax", {{"axis", axis}}));
  for (const char* type : {"ReduceMean", "ReduceMax"}) {
    for (const Ints& axes : {Ints{1}, Ints{3}, Ints{1, 2}, Ints{2, 3}, Ints{0, 1, 2, 3}}) {
      steps.push_back(node(type, {{"axes", axes}}));
    }
  }
  for (const Ints& perm : {Ints{0, 2, 3, 1}, Ints{0, 1, 3, 2}, Ints{1, 0, 2, 3}}) {
    steps.push_back(node("Transpose", {{"perm", perm}}));
  }
  return steps;
}

std::vector<ChainStep> arithmetic_of_every_shape() {
  std::vector<ChainStep> steps;
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Max", "Min"}) {
    for (const Extents extents : {Extents::kNone, Extents::kChannel, Extents::kLast,
                                  Extents::kAllButFirst, Extents::kAll}) {
      steps.push_back(arithmetic(type, extents));
      steps.push_back({std::string(type) + " to an operand", [=](Net& net, uint32_t x) {
                         const Shape shape = operand_shape(net.shape(x), extents);
                         return net.add(type, {net.input(shape, 0.5, 2), net.add("Exp", {x})});
                       }});
    }
  }
  return steps;
}

// A convolution whose output is also an output of the partition, so that nothing is fused with it.
// The library chooses its layout.
ChainStep conv_to_share(int64_t channels) {
  return {"Conv to " + std::to_string(channels), [=](Net& net, uint32_t) {
            const uint32_t x = net.input({2, 3, 7, 8});
            const uint32_t y = net.add("Conv", {x, weights(net, {channels, 3, 3, 3}, 27)});
            net.output(y);
            return y;
          }};
}

// Reads every element of its input, the padding of channels included.
ChainStep conv_of_all() {
  return {"Conv of all", [](Net& net, uint32_t x) {
            const int64_t channels = net.shape(x)[1];
            return net.add("Conv", {x, weights(net, {4, channels, 1, 1}, channels)});
          }};
}

// A chain of steps, the first of which needs no value.
class Chain {
 public:
  explicit Chain(const std::vector<ChainStep>& steps) : base_(steps[0].add(net_, EPH_NONE)) {
    last_ = base_;
    name_ = steps[0].name;
    for (std::size_t i = 1; i < steps.size(); ++i) {
      last_ = steps[i].add(net_, last_);
      name_ += ", " + steps[i].name;
    }
    net_.output(last_);
  }

  [[nodiscard]] const std::string& name() const { return name_; }

  // Whether the provider takes all of it in one partition; if so, expects the results of the
  // reference.
  bool check() {
    static ProviderSession session(1);
    const auto partitions = session.compile(net_.graph());
    if (partitions.size() != 1 || partitions[0]->graph->node_count() != net_.graph().node_count()) {
      return false;
    }
    compare(partitions[0]->run(net_).back());
    return true;
  }

 private:
  // Elements whose reference is not finite are not compared; the others get the tolerance that a
  // small error of the first step's result requires.
  void compare(const std::vector<float>& result) const {
    const Array& expected = net_.value(last_);
    const Array above = net_.value_if(last_, base_, shifted(1e-5));
    const Array below = net_.value_if(last_, base_, shifted(-1e-5));
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double value = expected.data[i];
      const double spread = std::abs(above.data[i] - value) + std::abs(below.data[i] - value);
      if (!std::isfinite(value + spread) || std::abs(value) > 1e6) continue;
      ASSERT_NEAR(result[i], value, 1e-4 + 1e-3 * std::abs(value) + spread) << "element " << i;
    }
  }
  [[nodiscard]] Array shifted(double by) const {
    return map(net_.value(base_), [=](double x) { return x + by * (1 + std::abs(x)); });
  }

  Net net_;
  uint32_t base_, last_ = 0;
  std::string name_;
};

void expect_chain(const std::vector<ChainStep>& steps) {
  Chain chain(steps);
  SCOPED_TRACE(chain.name());
  EXPECT_TRUE(chain.check()) << "the provider doesn't take it";
}

void expect_pairs(const ChainStep& base, const std::vector<ChainStep>& steps) {
  for (const ChainStep& first : steps) {
    for (const ChainStep& second : steps) expect_chain({base, first, second});
  }
}

// Every fourth of them; all in a long run (scripts/check_all.sh).
void expect_triples(const ChainStep& base, const std::vector<ChainStep>& steps) {
  const uint64_t stride = std::getenv("EPHOST_LONG_RUN") != nullptr ? 1 : 4;
  uint64_t pair = 0;
  for (const ChainStep& first : steps) {
    for (const ChainStep& second : steps) {
      // Each pair comes with other third ones than the pair before.
      for (uint64_t third = pair++ % stride; third < steps.size(); third += stride) {
        expect_chain({base, first, second, steps[third]});
      }
    }
  }
}

std::vector<ChainStep> all_steps() { return functions() + variants() + arithmetic_of_each_kind(); }

TEST(SelfCheck, PairsOfPostOpsAfterProducts) {
  expect_pairs(product({3, 6}, 19), all_steps());
  expect_pairs(product({1, 16}, 32), functions() + variants());
  expect_pairs(product({2, 3, 6}, 5), functions() + variants());
}

TEST(SelfCheck, TriplesOfPostOpsAfterProducts) {
  expect_triples(product({3, 6}, 19), functions() + arithmetic_of_each_kind());
}

TEST(SelfCheck, PairsOfPostOpsAfterConvolutions) {
  expect_pairs(conv(3, 13, 3), all_steps());
  expect_pairs(conv(16, 24, 1), all_steps());
  expect_pairs(conv(19, 19, 3, 19), functions() + variants());
  expect_pairs(conv(32, 16, 3, 2), functions() + variants());
}

TEST(SelfCheck, TriplesOfPostOpsAfterConvolutions) {
  const std::vector<ChainStep> some = {node("Relu"),
                                       node("Elu", {{"alpha", 0.5F}}),
                                       node("Tanh"),
                                       clip(-0.25F, 0.75F),
                                       with_scalar("Add", 0.5F),
                                       with_scalar("Pow", 3),
                                       gelu(),
                                       node("HardSwish")};
  expect_triples(conv(4, 16, 3), some + arithmetic_of_each_kind());
}

TEST(SelfCheck, EveryOperationOnTheLayoutsOfConvolutions) {
  const std::vector<ChainStep> steps = functions() + variants() + arithmetic_of_every_shape() +
                                       layout_steps() + std::vector<ChainStep>{log_of_positive()};
  for (const int64_t channels : {5, 16, 24}) {
    for (const ChainStep& step : steps) {
      expect_chain({conv_to_share(channels), step});
      expect_chain({conv_to_share(channels), step, node("LeakyRelu")});
      expect_chain({conv_to_share(channels), step, conv_of_all()});
    }
  }
}

TEST(SelfCheck, PairsOfOperationsOnTheLayoutsOfConvolutions) {
  const std::vector<ChainStep> steps =
      layout_steps() + arithmetic_of_each_kind() +
      std::vector<ChainStep>{node("Relu"), node("Reciprocal"), log_of_positive(), conv_of_all()};
  // The provider declines some: windows that don't fit, reductions of what has been reduced.
  std::size_t taken = 0;
  for (const ChainStep& first : steps) {
    for (const ChainStep& second : steps) {
      Chain chain({conv_to_share(13), first, second});
      SCOPED_TRACE(chain.name());
      if (chain.check()) ++taken;
    }
  }
  EXPECT_GT(taken, steps.size() * steps.size() * 9 / 10);
}

}  // namespace
}  // namespace ephost::test::self_check_test
