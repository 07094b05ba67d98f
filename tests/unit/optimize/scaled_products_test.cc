#include "host/optimize/scaled_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/graph/checks.h"
#include "host/optimize/dead_code.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize::scaled_products_test {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::NodeId;
using graph::Shape;
using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::make_tensor;
using graph::testing::tensor_type;
using graph::testing::value_names;
using ::testing::ElementsAre;

//   y = Add(Mul(Cast(MatMulInteger(a, b, az, bz)), Mul(as, bs)), bias)
struct Product {
  graph::ValueType a = tensor_type(ElementType::kUint8, Shape{2, 3, 4});
  graph::ValueType a_zero = tensor_type(ElementType::kUint8, Shape{});
  Shape b = {4, 2};
  std::vector<float> b_scales = {1, 2};
  std::vector<float> bias = {3, 4};
  bool swaps = false;  // the inputs of all commutative nodes
  std::string output = "y";
  std::string second_output;  // another value that the graph gives
  ElementType cast_to = ElementType::kFloat;

  [[nodiscard]] Graph graph() const {
    GraphBuilder builder;
    const auto count = static_cast<size_t>(*graph::element_count(b));
    builder.input("a", a)
        .input("as", tensor_type(ElementType::kFloat, Shape{}))
        .input("az", a_zero)
        .constant("b", make_tensor<int8_t>(ElementType::kInt8, b, std::vector<int8_t>(count, 1)))
        .constant("bs", float_tensor(b_scales))
        .constant("bz", make_tensor<int8_t>(ElementType::kInt8, {}, {5}))
        .constant("bias", float_tensor(bias))
        .node("MatMulInteger", {"a", "b", "az", "bz"}, {"sums"})
        .node("Cast", {"sums"}, {"cast"})
        .node("Mul", {swaps ? "bs" : "as", swaps ? "as" : "bs"}, {"scale"})
        .node("Mul", {swaps ? "scale" : "cast", swaps ? "cast" : "scale"}, {"scaled"})
        .node("Add", {swaps ? "bias" : "scaled", swaps ? "scaled" : "bias"}, {"y"})
        .output(output);
    if (!second_output.empty()) builder.output(second_output);
    Graph graph = builder.build();
    graph.values[graph.find_value("cast")].type = tensor_type(cast_to);
    for (const char* name : {"scale", "scaled", "y"}) {
      graph.values[graph.find_value(name)].type = tensor_type(ElementType::kFloat);
    }
    for (graph::Node& node : graph.nodes) node.since_version = 13;
    return graph;
  }
};

QuantizedOperators all() {
  return {.is_free = [](NodeId) { return true; },
          .has_kernel = [](const graph::Node&) { return true; },
          .opset = 13};
}

// The operators after the pass.
std::vector<std::string> operators_of(Graph& graph, const QuantizedOperators& options = all()) {
  form_scaled_products(graph, options);
  EXPECT_EQ(check_graph(graph).message(), "");
  remove_bare_nodes(graph, options.is_free);
  EXPECT_EQ(check_graph(graph).message(), "");
  std::vector<std::string> operators;
  for (const graph::Node& node : graph.nodes) operators.push_back(node.op_type);
  return operators;
}
std::vector<std::string> operators_of(const Product& product,
                                      const QuantizedOperators& options = all()) {
  Graph graph = product.graph();
  return operators_of(graph, options);
}

const std::vector<std::string> kUnchanged = {"MatMulInteger", "Cast", "Mul", "Mul", "Add"};

TEST(ScaledProducts, TakeScalesAndBias) {
  for (const bool swaps : {false, true}) {
    Graph graph = Product{.swaps = swaps}.graph();
    ASSERT_THAT(operators_of(graph), ElementsAre("MatMulIntegerToFloat"));
    EXPECT_EQ(graph.nodes[0].domain, "com.microsoft");
    EXPECT_EQ(graph.nodes[0].since_version, 1);
    EXPECT_THAT(value_names(graph, graph.nodes[0].inputs),
                ElementsAre("a", "b", "as", "bs", "az", "bz", "bias"));
    EXPECT_THAT(value_names(graph, graph.nodes[0].outputs), ElementsAre("y"));
  }
}

TEST(ScaledProducts, LeaveAnAdditionOfAnotherShapeAlone) {
  EXPECT_THAT(operators_of({.bias = {1}}), ElementsAre("MatMulIntegerToFloat", "Add"));
}

TEST(ScaledProducts, LeaveAnAdditionAloneThatIsNotTheOnlyReader) {
  EXPECT_THAT(operators_of({.second_output = "scaled"}),
              ElementsAre("MatMulIntegerToFloat", "Add"));
}

TEST(ScaledProducts, KeepAProductOfScalesThatOthersRead) {
  EXPECT_THAT(operators_of({.second_output = "scale"}), ElementsAre("Mul", "MatMulIntegerToFloat"));
}

TEST(ScaledProducts, NeedResultsThatNobodyElseReads) {
  EXPECT_EQ(operators_of({.second_output = "cast"}), kUnchanged);
  EXPECT_EQ(operators_of({.second_output = "sums"}), kUnchanged);
}

TEST(ScaledProducts, NeedTheShapesOfTheOperator) {
  EXPECT_EQ(operators_of({.a = tensor_type(ElementType::kUint8)}), kUnchanged);
  EXPECT_EQ(operators_of({.a = tensor_type(ElementType::kUint8, Shape{4})}), kUnchanged);
  EXPECT_EQ(operators_of({.a_zero = tensor_type(ElementType::kUint8, Shape{3})}), kUnchanged);
  EXPECT_EQ(operators_of({.b = {2, 4, 2}}), kUnchanged);
  EXPECT_EQ(operators_of({.b_scales = {1, 2, 3}}), kUnchanged);
}

TEST(ScaledProducts, NeedFloat) {
  EXPECT_EQ(operators_of({.cast_to = ElementType::kDouble}), kUnchanged);
}

TEST(ScaledProducts, NeedAKernelAndFreeNodes) {
  QuantizedOperators options = all();
  options.has_kernel = [](const graph::Node&) { return false; };
  EXPECT_EQ(operators_of({}, options), kUnchanged);
  options = all();
  for (NodeId taken = 0; taken < 4; ++taken) {
    options.is_free = [=](NodeId id) { return id != taken; };
    EXPECT_EQ(operators_of({}, options), kUnchanged) << taken;
  }
  options.is_free = [](NodeId id) { return id != 4; };
  EXPECT_THAT(operators_of({}, options), ElementsAre("MatMulIntegerToFloat", "Add"));
}

}  // namespace
}  // namespace ephost::optimize::scaled_products_test
