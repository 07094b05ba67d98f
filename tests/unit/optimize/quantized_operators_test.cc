#include "host/optimize/quantized_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "host/graph/checks.h"
#include "host/optimize/dead_code.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize::quantized_operators_test {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::NodeId;
using graph::Shape;
using graph::Tensor;
using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::int64_tensor;
using graph::testing::make_tensor;
using graph::testing::node_names;
using graph::testing::tensor_type;
using graph::testing::value_names;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Tensor scalar(float number) { return make_tensor<float>(ElementType::kFloat, {}, {number}); }
Tensor uint8_scalar(uint8_t number) {
  return make_tensor<uint8_t>(ElementType::kUint8, {}, {number});
}
Tensor int8s(Shape shape, int8_t number = 1) {
  const auto count = static_cast<size_t>(*graph::element_count(shape));
  return make_tensor<int8_t>(ElementType::kInt8, std::move(shape),
                             std::vector<int8_t>(count, number));
}
Tensor int32s(const std::vector<int32_t>& numbers) {
  return make_tensor<int32_t>(ElementType::kInt32, {static_cast<int64_t>(numbers.size())}, numbers);
}

// Sets what a test changes, and gives the outputs of the graph their type.
Graph finish(GraphBuilder& builder) {
  Graph graph = builder.output("y").build();
  graph.values[graph.find_value("y")].type = tensor_type(ElementType::kUint8);
  for (graph::Node& node : graph.nodes) node.since_version = 13;
  return graph;
}

//   y = QuantizeLinear(Conv(DequantizeLinear(x), DequantizeLinear(w), DequantizeLinear(b)))
struct Convolution {
  Shape weights = {2, 3, 1, 1};
  Tensor x_scale = scalar(0.5F);
  std::vector<float> w_scales = {0.25F, 0.125F};
  int64_t w_axis = 0;
  std::vector<float> b_scales = {0.125F, 0.0625F};
  std::vector<int32_t> b_zeros = {0, 0};
  std::vector<int32_t> bias = {7, -7};
  Tensor y_scale = scalar(2);

  [[nodiscard]] GraphBuilder start() const {
    GraphBuilder builder;
    builder.input("x", tensor_type(ElementType::kUint8, Shape{1, 3, 4, 4}))
        .constant("xs", x_scale)
        .constant("xz", uint8_scalar(128))
        .constant("w", int8s(weights))
        .constant("ws", float_tensor(w_scales))
        .constant("b", int32s(bias))
        .constant("bs", float_tensor(b_scales))
        .constant("bz", int32s(b_zeros))
        .constant("ys", y_scale)
        .constant("yz", uint8_scalar(3))
        .node("DequantizeLinear", {"x", "xs", "xz"}, {"fx"})
        .node("DequantizeLinear", {"w", "ws"}, {"fw"})
        .attribute("axis", w_axis)
        .node("DequantizeLinear", {"b", "bs", "bz"}, {"fb"})
        .attribute("axis", int64_t{0})
        .node("Conv", {"fx", "fw", "fb"}, {"fy"})
        .attribute("group", int64_t{1})
        .node("QuantizeLinear", {"fy", "ys", "yz"}, {"y"});
    return builder;
  }
  [[nodiscard]] Graph graph() const {
    GraphBuilder builder = start();
    return finish(builder);
  }
};

//   y = QuantizeLinear(MatMul(DequantizeLinear(a), DequantizeLinear(b)))
Graph product(Shape b = {4, 2}, const std::vector<float>& scales = {1, 2}, int64_t axis = 1) {
  GraphBuilder builder;
  builder.input("a", tensor_type(ElementType::kUint8, Shape{3, 4}))
      .constant("as", scalar(0.5F))
      .constant("b", int8s(std::move(b)))
      .constant("bs", float_tensor(scales))
      .constant("ys", scalar(2))
      .constant("yz", uint8_scalar(3))
      .node("DequantizeLinear", {"a", "as"}, {"fa"})
      .node("DequantizeLinear", {"b", "bs"}, {"fb"})
      .attribute("axis", axis)
      .node("MatMul", {"fa", "fb"}, {"fy"})
      .node("QuantizeLinear", {"fy", "ys", "yz"}, {"y"});
  return finish(builder);
}

//   y = QuantizeLinear(Reshape(DequantizeLinear(x)))
Graph movement(float scale_after = 0.5F, uint8_t zero_after = 3) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kUint8, Shape{2, 3}))
      .constant("xs", scalar(0.5F))
      .constant("xz", uint8_scalar(3))
      .constant("ys", scalar(scale_after))
      .constant("yz", uint8_scalar(zero_after))
      .constant("shape", int64_tensor({6}))
      .node("DequantizeLinear", {"x", "xs", "xz"}, {"fx"})
      .node("Reshape", {"fx", "shape"}, {"fy"})
      .node("QuantizeLinear", {"fy", "ys", "yz"}, {"y"});
  return finish(builder);
}

//   y = QuantizeLinear(Add(DequantizeLinear(a), DequantizeLinear(b)))
Graph sum(ElementType type_of_b = ElementType::kUint8, int32_t version = 13) {
  GraphBuilder builder;
  builder.input("a", tensor_type(ElementType::kUint8, Shape{3, 4}))
      .input("b", tensor_type(type_of_b, Shape{4}))
      .constant("as", scalar(0.5F))
      .constant("bs", scalar(0.25F))
      .constant("ys", scalar(2))
      .constant("yz", uint8_scalar(3))
      .node("DequantizeLinear", {"a", "as"}, {"fa"})
      .node("DequantizeLinear", {"b", "bs"}, {"fb"})
      .node("Add", {"fa", "fb"}, {"fy"})
      .node("QuantizeLinear", {"fy", "ys", "yz"}, {"y"});
  Graph graph = finish(builder);
  graph.nodes[2].since_version = version;
  return graph;
}

QuantizedOperators all() {
  return {.is_free = [](NodeId) { return true; },
          .has_kernel = [](const graph::Node&) { return true; },
          .opset = 13};
}

// Forms operators, removes what is not needed any more, and returns how many there are.
size_t form(Graph& graph, const QuantizedOperators& options = all()) {
  UniqueNames names(graph);
  const size_t formed = form_quantized_operators(graph, options, names).size();
  EXPECT_EQ(check_graph(graph).message(), "");
  remove_bare_nodes(graph, options.is_free);
  EXPECT_EQ(check_graph(graph).message(), "");
  return formed;
}

size_t form_of(Graph graph) { return form(graph); }

std::string operator_in(const Graph& graph) {
  std::string names;
  for (const graph::Node& node : graph.nodes) names += (names.empty() ? "" : " ") + node.op_type;
  return names;
}

TEST(QuantizedOperators, FormASum) {
  Graph graph = sum();
  EXPECT_EQ(form(graph), 1U);
  ASSERT_EQ(operator_in(graph), "QLinearAdd");
  EXPECT_EQ(graph.nodes[0].domain, "com.microsoft");
  EXPECT_EQ(graph.nodes[0].since_version, 1);
  EXPECT_THAT(value_names(graph, graph.nodes[0].inputs),
              ElementsAre("a", "as", "quantization/zero_point", "b", "bs",
                          "quantization/zero_point", "ys", "yz"));
  EXPECT_EQ(form_of(sum(ElementType::kInt8)), 0U);
  EXPECT_EQ(form_of(sum(ElementType::kUint8, 6)), 0U);
}

TEST(QuantizedOperators, FormAConvolution) {
  Graph graph = Convolution().graph();
  EXPECT_EQ(form(graph), 1u);
  ASSERT_EQ(operator_in(graph), "QLinearConv");
  EXPECT_THAT(value_names(graph, graph.nodes[0].inputs),
              ElementsAre("x", "xs", "xz", "w", "ws", "quantization/zero_point", "ys", "yz", "b"));
  EXPECT_THAT(value_names(graph, graph.nodes[0].outputs), ElementsAre("y"));
  EXPECT_EQ(graph.nodes[0].name, "fy");
  EXPECT_EQ(graph.nodes[0].since_version, 10);
  EXPECT_EQ(graph.nodes[0].integer("group"), 1);
  EXPECT_EQ(graph.find_value("bs"), graph::kNoValue);
  const Tensor* zero = graph.constant(graph.nodes[0].inputs[5]);
  ASSERT_NE(zero, nullptr);
  EXPECT_EQ(zero->type, ElementType::kInt8);
  EXPECT_EQ(zero->data.bytes[0], std::byte{0});
}

TEST(QuantizedOperators, FormAProductOfTheModelsVersion) {
  for (const int64_t opset : {13, 21}) {
    Graph graph = product();
    QuantizedOperators options = all();
    options.opset = opset;
    EXPECT_EQ(form(graph, options), 1u);
    ASSERT_EQ(operator_in(graph), "QLinearMatMul");
    EXPECT_EQ(graph.nodes[0].since_version, opset == 13 ? 10 : 21);
    EXPECT_THAT(value_names(graph, graph.nodes[0].inputs),
                ElementsAre("a", "as", "quantization/zero_point", "b", "bs",
                            "quantization/zero_point_1", "ys", "yz"));
  }
}

TEST(QuantizedOperators, MoveIntegersThatAreQuantisedAlike) {
  Graph graph = movement();
  EXPECT_EQ(form(graph), 1u);
  ASSERT_EQ(operator_in(graph), "Reshape");
  EXPECT_THAT(value_names(graph, graph.nodes[0].inputs), ElementsAre("x", "shape"));
  EXPECT_EQ(form_of(movement(0.25F)), 0u);
  EXPECT_EQ(form_of(movement(0.5F, 4)), 0u);
  Graph untyped = movement();
  for (const char* name : {"x", "y"}) untyped.values[untyped.find_value(name)].type = {};
  EXPECT_EQ(form(untyped), 0u);
}

TEST(QuantizedOperators, PoolIntegersIfTheOperatorCan) {
  for (const int32_t version : {11, 12}) {
    Graph graph = movement();
    graph.nodes[1].op_type = "MaxPool";
    graph.nodes[1].inputs.pop_back();
    graph.nodes[1].since_version = version;
    graph::connect(graph);
    EXPECT_EQ(form(graph), version == 12 ? 1u : 0u);
  }
}

TEST(QuantizedOperators, LeaveANodeForItsOtherReaders) {
  GraphBuilder builder = Convolution().start();
  builder.node("Neg", {"fx"}, {"z"}).output("z").output("fw");
  Graph graph = finish(builder);
  EXPECT_EQ(form(graph), 1u);
  EXPECT_THAT(node_names(graph), ElementsAre("fx", "fw", "fy", "z"));
}

TEST(QuantizedOperators, AreNotFormedOfAValueWithOtherReaders) {
  GraphBuilder read_twice = Convolution().start();
  read_twice.node("Neg", {"fy"}, {"z"}).output("z");
  Graph graph = finish(read_twice);
  EXPECT_EQ(form(graph), 0u);
  GraphBuilder given = Convolution().start();
  given.output("fy");
  graph = finish(given);
  EXPECT_EQ(form(graph), 0u);
}

TEST(QuantizedOperators, AreFormedOfFreeNodesOnly) {
  for (NodeId taken = 0; taken < 5; ++taken) {
    Graph graph = Convolution().graph();
    QuantizedOperators options = all();
    options.is_free = [&](NodeId id) { return id != taken; };
    EXPECT_EQ(form(graph, options), 0u) << taken;
  }
}

TEST(QuantizedOperators, AreFormedIfThereIsAKernel) {
  Graph graph = Convolution().graph();
  const size_t values = graph.values.size();
  QuantizedOperators options = all();
  std::string asked;
  options.has_kernel = [&](const graph::Node& node) {
    asked = node.op_type + " " + std::to_string(node.inputs.size());
    return false;
  };
  EXPECT_EQ(form(graph, options), 0u);
  EXPECT_EQ(asked, "QLinearConv 9");
  EXPECT_EQ(graph.values.size(), values);
  EXPECT_EQ(graph.nodes.size(), 5u);
}

TEST(QuantizedOperators, TakeNoWeightsWithScalesOfAnotherAxis) {
  const float scale = 0.25F;
  Convolution convolution{.weights = {2, 2, 1, 1}, .w_axis = 1};
  EXPECT_EQ(form_of(convolution.graph()), 0u);
  convolution.w_axis = -4;
  EXPECT_EQ(form_of(convolution.graph()), 1u);
  convolution.w_axis = 1;
  convolution.w_scales = {scale};
  convolution.b_scales = {0.125F};
  convolution.b_zeros = {0};
  EXPECT_EQ(form_of(convolution.graph()), 1u);
  Graph rows = product({2, 2}, {1, 2}, 0);
  EXPECT_EQ(form(rows), 0u);
  Graph columns = product({2, 2}, {1, 2}, -1);
  EXPECT_EQ(form(columns), 1u);
  Graph stack = product({5, 4, 2}, {1, 2}, 1);
  EXPECT_EQ(form(stack), 0u);
}

TEST(QuantizedOperators, TakeABiasOfTheScaleOfTheSumsOnly) {
  for (const Convolution& convolution :
       {Convolution{.b_scales = {0.125F, 0.0625001F}}, Convolution{.b_zeros = {0, 1}},
        Convolution{.bias = {std::numeric_limits<int32_t>::max(), 0}}}) {
    Graph graph = convolution.graph();
    EXPECT_EQ(form(graph), 0u);
  }
}

TEST(QuantizedOperators, AreNotFormedWhereSumsCouldOverflow) {
  Graph small = Convolution{.weights = {2, 33025, 1, 1}}.graph();
  EXPECT_EQ(form(small), 1u);
  Graph large = Convolution{.weights = {2, 33026, 1, 1}}.graph();
  EXPECT_EQ(form(large), 0u);
  Graph long_rows = product({33026, 2});
  EXPECT_EQ(form(long_rows), 0u);
}

TEST(QuantizedOperators, AreNotFormedOfScalesThatAreNoNormalNumbers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float scale : {0.0F, -0.5F, kInfinity, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::denorm_min(), 1e-38F, 1e36F, 1e38F}) {
    Convolution convolution{.x_scale = scalar(scale)};
    convolution.b_scales = {scale * 0.25F, scale * 0.125F};
    Graph graph = convolution.graph();
    EXPECT_EQ(form(graph), 0u) << scale;
  }
}

TEST(QuantizedOperators, AreNotFormedOfWhatIsNotSaid) {
  const auto refuses = [](Graph graph, const std::function<void(Graph&)>& change) {
    change(graph);
    graph::connect(graph);
    return form(graph) == 0;
  };
  const auto convolution = [&](const std::function<void(Graph&)>& change) {
    return refuses(Convolution().graph(), change);
  };
  EXPECT_FALSE(convolution([](Graph&) {}));
  EXPECT_TRUE(convolution([](Graph& graph) { graph.values[graph.find_value("y")].type = {}; }));
  EXPECT_TRUE(convolution([](Graph& graph) { graph.values[graph.find_value("x")].type = {}; }));
  EXPECT_TRUE(convolution([](Graph& graph) { graph.inputs.push_back(graph.find_value("xs")); }));
  EXPECT_TRUE(convolution([](Graph& graph) { graph.inputs.push_back(graph.find_value("yz")); }));
  EXPECT_TRUE(convolution([](Graph& graph) { graph.inputs.push_back(graph.find_value("b")); }));
  EXPECT_TRUE(convolution([](Graph& graph) { graph.nodes[0].inputs[2] = graph.find_value("bz"); }));
  EXPECT_TRUE(convolution([](Graph& graph) { graph.nodes[0].domain = "com.microsoft"; }));
  EXPECT_TRUE(convolution([](Graph& graph) { graph.nodes[3].domain = "com.example"; }));
  EXPECT_TRUE(convolution([](Graph& graph) { graph.nodes[3].is_of_other_opset = true; }));
  EXPECT_TRUE(convolution([](Graph& graph) {
    graph.nodes[1].attributes.push_back({"block_size", int64_t{1}});
  }));
  EXPECT_TRUE(convolution([](Graph& graph) {
    graph.nodes[0].attributes.push_back({"output_dtype", int64_t{10}});
  }));
  EXPECT_TRUE(convolution([](Graph& graph) {
    graph.nodes[4].attributes.push_back({"precision", int64_t{10}});
  }));
}

TEST(BareNodes, AreRemovedIfTheyAreFree) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("w", float_tensor({1}))
                    .node("Sink", {"w"}, {})
                    .node("Sink", {"x"}, {})
                    .node("Neg", {"x"}, {"y"})
                    .output("y")
                    .build();
  const graph::Renumbering numbers = remove_bare_nodes(graph, [](NodeId id) { return id != 1; });
  EXPECT_THAT(numbers.nodes, ElementsAre(graph::kNoNode, 0u, 1u));
  EXPECT_THAT(graph.initializers, IsEmpty());
  EXPECT_EQ(check_graph(graph).message(), "");
}

}  // namespace
}  // namespace ephost::optimize::quantized_operators_test
