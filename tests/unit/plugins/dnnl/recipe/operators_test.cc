// Every operator that the provider claims, against the reference, through the C ABI. An operator
// that is not worth a partition of its own follows a small convolution or product.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test::operators_test {
namespace {

using Ints = std::vector<int64_t>;

// A convolution's output, in a layout of the library's choice.
uint32_t after_conv(Net& net, int64_t channels = 16, int64_t extent = 8) {
  return net.conv(net.input({2, 3, extent, extent}), channels, 1);
}

void expect(Net& net, uint32_t output) {
  net.output(output);
  expect_one_partition(net);
}

TEST(DnnlConv, HandlesStridesPadsDilationsGroupsAndBias) {
  Net net;
  uint32_t x = net.input({2, 8, 13, 11});
  x = net.conv(x, 16, 3, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}});
  x = net.conv(x, 16, 3, {{"pads", Ints{2, 1, 2, 1}}, {"dilations", Ints{2, 1}}}, 4);
  x = net.conv(x, 16, 3, {{"pads", Ints{1, 0, 1, 2}}}, 16);
  x = net.add("Conv", {x, net.weights({20, 16, 1, 1}), net.weights({20})});
  expect(net, x);
}

TEST(DnnlConv, ResolvesAutoPad) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    Net net;
    const FakeAttributes attributes = {{"auto_pad", std::string(mode)}, {"strides", Ints{2, 2}}};
    expect(net, net.conv(net.input({1, 3, 10, 9}), 8, 3, attributes));
  }
}

TEST(DnnlConv, HandlesOneAndThreeSpatialDimensions) {
  Net line;
  expect(line, line.conv(line.input({2, 4, 17}), 8, 3, {{"pads", Ints{1, 1}}}));
  Net volume;
  expect(volume, volume.conv(volume.input({1, 4, 5, 6, 7}), 8, 3));
}

TEST(DnnlConv, TakesWeightsThatAreNotConstant) {
  Net net;
  const uint32_t x = net.input({1, 8, 6, 6}), w = net.input({8, 4, 3, 3});
  expect(net, net.add("Conv", {x, w}, {{"group", int64_t{2}}}));
}

TEST(DnnlMatMul, HandlesEveryCombinationOfRanks) {
  const std::vector<std::pair<Shape, Shape>> pairs = {{{5, 7}, {7, 3}},
                                                      {{2, 5, 7}, {7, 3}},
                                                      {{2, 3, 5, 7}, {7, 4}},
                                                      {{2, 5, 7}, {2, 7, 3}},
                                                      {{5, 7}, {4, 7, 3}},
                                                      {{2, 1, 5, 7}, {1, 3, 7, 6}},
                                                      {{2, 3, 5, 7}, {3, 7, 6}},
                                                      {{7}, {7, 3}},
                                                      {{5, 7}, {7}},
                                                      {{7}, {7}},
                                                      {{2, 2, 2, 4, 8}, {2, 8, 8}},
                                                      {{7}, {2, 7, 3}}};
  for (const auto& [a, b] : pairs) {
    SCOPED_TRACE(std::to_string(a.size()) + " by " + std::to_string(b.size()));
    Net constant;
    expect(constant, constant.add("MatMul", {constant.input(a), constant.weights(b)}));
    Net computed;
    expect(computed, computed.add("MatMul", {computed.input(a), computed.input(b)}));
  }
}

TEST(DnnlGemm, HandlesTranspositionsFactorsAndEveryShapeOfC) {
  for (const Shape& c : {Shape{6}, Shape{1, 6}, Shape{5, 1}, Shape{5, 6}, Shape{}, Shape{1}}) {
    for (const float factor : {1.0F, 0.5F}) {
      Net net;
      const FakeAttributes attributes = {{"alpha", factor},
                                         {"beta", 2 * factor - 1 + 0.25F},
                                         {"transA", int64_t{1}},
                                         {"transB", int64_t{1}}};
      const uint32_t a = net.input({7, 5}), b = net.weights({6, 7});
      expect(net, net.add("Gemm", {a, b, net.weights(c)}, attributes));
    }
  }
  Net plain;
  expect(plain,
         plain.add("Gemm", {plain.input({5, 7}), plain.weights({7, 6}), plain.weights({6})}));
  Net without_c;
  expect(without_c, without_c.add("Gemm", {without_c.input({5, 7}), without_c.input({7, 6})}));
}

TEST(DnnlPool, HandlesKernelsPadsDilationsAndCeilMode) {
  const FakeAttributes window = {
      {"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 1, 0}}};
  for (const char* type : {"MaxPool", "AveragePool"}) {
    for (const int64_t ceil : {0, 1}) {
      for (const bool blocked : {false, true}) {
        Net net;
        FakeAttributes attributes = window;
        attributes["ceil_mode"] = ceil;
        const uint32_t x = blocked ? after_conv(net, 16, 10) : net.input({2, 5, 10, 10});
        expect(net, net.add(type, {x}, attributes));
      }
    }
  }
  for (const char* type : {"MaxPool", "AveragePool"}) {
    Net shortened;  // a third window would begin in the padding at the end
    expect(shortened, shortened.add(type, {shortened.input({1, 3, 6, 5})},
                                    {{"kernel_shape", Ints{3, 2}},
                                     {"strides", Ints{4, 3}},
                                     {"pads", Ints{1, 1, 2, 1}},
                                     {"ceil_mode", int64_t{1}}}));
  }
  Net dilated;
  expect(dilated, dilated.add("MaxPool", {dilated.input({1, 3, 9, 9})},
                              {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{3, 2}}}));
  Net included;
  expect(included, included.add("AveragePool", {included.input({1, 3, 9, 9})},
                                {{"kernel_shape", Ints{3, 3}},
                                 {"pads", Ints{1, 1, 1, 1}},
                                 {"count_include_pad", int64_t{1}}}));
}

TEST(DnnlPool, ReducesAllSpatialDimensions) {
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool"}) {
    Net net;
    expect(net, net.add(type, {after_conv(net)}));
    Net alone;
    expect(alone, alone.add(type, {alone.input({2, 5, 4, 3})}));
  }
}

TEST(DnnlBatchNormalization, StandsAloneOrFoldsIntoTheConvolution) {
  Net folded;
  expect(folded, folded.batch_norm(after_conv(folded)));
  Net alone;
  const uint32_t normal = alone.batch_norm(alone.input({2, 16, 5, 5}));
  expect(alone, alone.conv(alone.add("Relu", {normal}), 8, 3));
  Net biased;
  const uint32_t x = biased.input({1, 4, 5, 5});
  expect(biased, biased.batch_norm(
                     biased.add("Conv", {x, biased.weights({6, 4, 3, 3}), biased.weights({6})})));
}

TEST(DnnlLayerNormalization, NormalisesTheLastDimensions) {
  Net last;
  const uint32_t x = last.linear(last.input({2, 5, 8}), 12);
  expect(last, last.add("LayerNormalization", {x, last.weights({12}), last.weights({12})}));
  Net two;
  const uint32_t y = two.linear(two.input({2, 5, 8}), 12);
  expect(two, two.add("LayerNormalization", {y, two.weights({5, 12})}, {{"axis", int64_t{-2}}}));
}

TEST(DnnlLrn, NormalisesAcrossChannels) {
  Net net;
  const FakeAttributes attributes = {
      {"size", int64_t{5}}, {"alpha", 0.1F}, {"beta", 0.75F}, {"bias", 2.0F}};
  expect(net, net.add("LRN", {after_conv(net)}, attributes));
}

TEST(DnnlSoftmax, FollowsBothDefinitions) {
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    for (const int64_t axis : {0, 1, -1}) {
      for (const int32_t version : {11, 13}) {
        Net net;
        const uint32_t x = net.linear(net.input({3, 4, 6}), 5);
        expect(net, net.add(type, {x}, {{"axis", axis}}, version));
      }
    }
  }
}

TEST(DnnlActivations, GiveTheSameAloneAndFused) {
  const std::vector<std::pair<std::string, FakeAttributes>> functions = {
      {"Relu", {}},
      {"LeakyRelu", {{"alpha", 0.2F}}},
      {"Elu", {{"alpha", 1.5F}}},
      {"Tanh", {}},
      {"Sigmoid", {}},
      {"Exp", {}},
      {"Abs", {}},
      {"Neg", {}},
      {"HardSwish", {}},
      {"Identity", {}},
      {"Dropout", {}}};
  for (const auto& [type, attributes] : functions) {
    SCOPED_TRACE(type);
    Net fused;
    expect(fused, fused.add(type, {after_conv(fused)}, attributes));
    Net separate;
    const uint32_t x = separate.linear(separate.input({4, 6}), 5);
    const uint32_t y = separate.add(type, {x}, attributes);
    expect(separate, separate.add("Add", {y, x}));
  }
}

TEST(DnnlActivations, TakePositiveNumbersWhereTheyMust) {
  for (const char* type : {"Log", "Sqrt", "Reciprocal"}) {
    SCOPED_TRACE(type);
    Net net;
    const uint32_t positive = net.add(type, {net.input({4, 6}, 0.5, 4)});
    expect(net, net.linear(positive, 5));
  }
}

TEST(DnnlClip, TakesBoundsFromAttributesAndConstants) {
  Net old;
  expect(old, old.add("Clip", {after_conv(old)}, {{"min", 0.0F}, {"max", 0.3F}}, 6));
  Net inputs;
  expect(inputs,
         inputs.add("Clip", {after_conv(inputs), inputs.scalar(-0.1F), inputs.scalar(0.2F)}));
  Net open;
  expect(open, open.add("Clip", {after_conv(open), EPH_NONE, open.scalar(0.2F)}));
}

TEST(DnnlPow, TakesConstantExponents) {
  for (const float exponent : {2.0F, 3.0F, 0.5F, 1.0F, -1.0F}) {
    Net net;
    const uint32_t x = net.add("Pow", {net.input({4, 6}, 0.5, 2), net.scalar(exponent)});
    expect(net, net.linear(x, 5));
  }
}

// A value whose operation takes post-ops; the names say which one it is.
uint32_t fusible(Net& net, const std::string& kind) {
  if (kind == "MatMul") return net.linear(net.input({4, 6}), 5, false);
  if (kind == "Gemm") {
    return net.add("Gemm", {net.input({1, 8}), net.weights({8, 16}), net.weights({16})});
  }
  if (kind == "Conv 3x3") return net.conv(net.input({2, 3, 8, 8}), 13, 3);
  if (kind == "Conv 1x1") return net.conv(net.input({1, 16, 8, 8}), 32, 1);
  if (kind == "depthwise Conv") return net.conv(net.input({1, 16, 8, 8}), 16, 3, {}, 16);
  if (kind == "MaxPool") {
    return net.add("MaxPool", {net.input({1, 16, 8, 8})}, {{"kernel_shape", Ints{2, 2}}});
  }
  return net.add("Add", {after_conv(net), net.input({2, 16, 8, 8})});
}

// A hard sigmoid as exporters without that operator write it: two of its scalars belong to one
// function.
uint32_t decomposed_hard_sigmoid(Net& net, uint32_t x) {
  const uint32_t bounded =
      net.add("Clip", {net.add("Add", {x, net.scalar(3)}), net.scalar(0), net.scalar(6)});
  return net.add("Div", {bounded, net.scalar(6)});
}

TEST(DnnlActivations, KeepTheirParametersBehindOthersOfTheSameFunction) {
  for (const char* kind :
       {"MatMul", "Gemm", "Conv 3x3", "Conv 1x1", "depthwise Conv", "MaxPool", "Add"}) {
    SCOPED_TRACE(kind);
    Net scalars;
    uint32_t x = scalars.add("Add", {fusible(scalars, kind), scalars.scalar(10)});
    expect(scalars, scalars.add("Add", {x, scalars.scalar(100)}));
    Net slopes;
    x = slopes.add("LeakyRelu", {fusible(slopes, kind)}, {{"alpha", 0.5F}});
    expect(slopes, slopes.add("Relu", {x}));
    Net bounds;
    x = bounds.add("Clip", {fusible(bounds, kind), bounds.scalar(-0.5F), bounds.scalar(0.5F)});
    expect(bounds, bounds.add("Clip", {x, bounds.scalar(0), bounds.scalar(0.25F)}));
    Net sigmoid;
    expect(sigmoid, decomposed_hard_sigmoid(sigmoid, fusible(sigmoid, kind)));
  }
}

TEST(DnnlArithmetic, BroadcastsTensorsOverAConvolution) {
  const std::vector<Shape> shapes = {{2, 16, 8, 8}, {1, 16, 1, 1}, {16, 1, 1},   {1}, {},
                                     {8},           {8, 8},        {2, 16, 1, 1}};
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Max", "Min"}) {
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(std::string(type) + " rank " + std::to_string(shape.size()));
      Net constant;
      expect(constant, constant.add(type, {after_conv(constant), constant.weights(shape, 0.5, 2)}));
      Net swapped;
      expect(swapped, swapped.add(type, {swapped.weights(shape, 0.5, 2),
                                         swapped.add("Exp", {after_conv(swapped)})}));
      Net computed;
      expect(computed, computed.add(type, {after_conv(computed), computed.input(shape, 0.5, 2)}));
    }
  }
}

TEST(DnnlArithmetic, BroadcastsTensorsOverAProduct) {
  for (const char* type : {"Add", "Sub", "Mul", "Div"}) {
    for (const Shape& shape :
         {Shape{2, 5, 6}, Shape{1, 5, 6}, Shape{2, 1, 1}, Shape{5, 1}, Shape{6}, Shape{1, 1, 6}}) {
      SCOPED_TRACE(std::string(type) + " rank " + std::to_string(shape.size()));
      Net net;
      const uint32_t product = net.linear(net.input({2, 5, 7}), 6, false);
      expect(net, net.add(type, {product, net.input(shape, 0.5, 2)}));
    }
  }
}

TEST(DnnlArithmetic, SumsAndComparesManyTensors) {
  for (const char* type : {"Sum", "Max", "Min"}) {
    Net net;
    const uint32_t x = after_conv(net);
    expect(net, net.add(type, {x, net.add("Relu", {x}), net.add("Neg", {x})}));
  }
}

TEST(DnnlReduce, ReducesAxesFromAttributesAndInputs) {
  for (const char* type : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"}) {
    for (const Ints& axes : {Ints{-1}, Ints{1}, Ints{0, 2}, Ints{2, 3}, Ints{0, 1, 2, 3}}) {
      for (const int64_t keep : {0, 1}) {
        SCOPED_TRACE(std::string(type) + " axes " + std::to_string(axes.size()));
        Net net;
        const uint32_t x = net.conv(net.input({2, 3, 4, 4}, 0.5, 1), 8, 1);
        const bool as_input = std::string(type) == "ReduceSum";
        FakeAttributes attributes = {{"keepdims", keep}};
        std::vector<uint32_t> inputs = {x};
        if (as_input) inputs.push_back(net.ints(axes));
        if (!as_input) attributes["axes"] = axes;
        expect(net, net.add(type, inputs, attributes));
      }
    }
  }
}

TEST(DnnlConcat, JoinsAlongAnyAxis) {
  for (const int64_t axis : {0, 1, 2, -1}) {
    Net net;
    const uint32_t x = after_conv(net);
    expect(net, net.add("Concat", {x, net.add("Relu", {x}), net.input({2, 16, 8, 8})},
                        {{"axis", axis}}));
  }
  Net uneven;
  const uint32_t x = uneven.input({1, 3, 6, 6});
  const uint32_t a = uneven.conv(x, 5, 1), b = uneven.conv(x, 7, 1);
  expect(uneven, uneven.conv(uneven.add("Concat", {a, b}, {{"axis", int64_t{1}}}), 4, 3));
}

TEST(DnnlLayout, ReshapesAndTransposesWhatConvolutionsMake) {
  Net net;
  uint32_t x = after_conv(net);
  x = net.add("Reshape", {x, net.ints({2, 4, 4, 64})});
  x = net.add("Transpose", {x}, {{"perm", Ints{0, 2, 3, 1}}});
  x = net.add("Reshape", {x, net.ints({2, 16, 8, 8})});
  x = net.conv(x, 8, 3);
  x = net.add("Transpose", {x}, {{"perm", Ints{0, 2, 3, 1}}});
  x = net.add("Unsqueeze", {x, net.ints({1})});
  x = net.add("Squeeze", {x, net.ints({1})});
  x = net.add("Flatten", {x});
  expect(net, net.linear(x, 10));
}

TEST(DnnlLayout, WritesATransposedOutputWhereItBelongs) {
  Net net;
  uint32_t x = net.add("MatMul", {net.input({2, 3, 5, 4}), net.input({2, 3, 4, 6})});
  x = net.add("Transpose", {x}, {{"perm", Ints{0, 2, 1, 3}}});
  expect(net, net.add("Reshape", {x, net.ints({2, 5, 18})}));
}

// Every shape of that rank with extents of 1 and 3.
std::vector<Shape> shapes_of_rank(std::size_t rank) {
  std::vector<Shape> shapes;
  for (std::size_t bits = 0; bits < std::size_t{1} << rank; ++bits) {
    Shape& shape = shapes.emplace_back();
    for (std::size_t i = 0; i < rank; ++i) shape.push_back((bits >> i & 1) != 0 ? 3 : 1);
  }
  return shapes;
}

// Strides of dimensions with extent 1 say nothing about where elements lie, but the library derives
// leading dimensions from them. It reuses a primitive made for some strides for others with the
// same dimensions, so each product has a width of its own here.
TEST(DnnlLayout, TransposesFactorsAndResultsOfProductsWithExtentsOfOne) {
  int64_t width = 4;
  for (std::size_t rank = 2; rank <= 4; ++rank) {
    for (const Shape& shape : shapes_of_rank(rank)) {
      Ints perm(rank);
      std::iota(perm.begin(), perm.end(), 0);
      do {
        SCOPED_TRACE(::testing::PrintToString(shape) + " by " + ::testing::PrintToString(perm));
        Net result;
        const uint32_t product = result.linear(result.input(shape), ++width, false);
        expect(result, result.add("Transpose", {product}, {{"perm", perm}}));
        Net factor;
        const uint32_t a = factor.add("Transpose", {factor.input(shape)}, {{"perm", perm}});
        Shape b_shape = factor.shape(a);
        b_shape[rank - 2] = b_shape[rank - 1];
        b_shape[rank - 1] = ++width;
        expect(factor, factor.add("MatMul", {a, factor.input(b_shape)}));
      } while (std::next_permutation(perm.begin(), perm.end()));
    }
  }
}

}  // namespace
}  // namespace ephost::test::operators_test
