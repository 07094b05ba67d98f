#include "host/optimize/constant_folding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "host/optimize/quantization_nodes.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/optimize/folding_helpers.h"

namespace ephost::optimize::constant_folding_test {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::NodeId;
using graph::Shape;
using graph::Tensor;
using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::node_names;
using graph::testing::tensor_type;
using ::testing::ElementsAre;
using testing::FakeEvaluator;
using testing::fold;
using testing::four_floats;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::two_folds;

TEST(ConstantFolding, TurnsConstantNodesIntoInitializersWithoutEvaluator) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Constant", {}, {"w"})
                    .attribute("value", float_tensor({1, 2}))
                    .node("Add", {"x", "w"}, {"y"})
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  const FoldReport report = fold(graph, evaluator);
  EXPECT_EQ(report.folded_nodes, 1u);
  EXPECT_EQ(report.folded_bytes, 8u);
  EXPECT_THAT(evaluator.evaluated, IsEmpty());
  EXPECT_THAT(node_names(graph), ElementsAre("y"));
  ASSERT_NE(graph.constant(graph.find_value("w")), nullptr);
  EXPECT_EQ(graph.values[graph.find_value("w")].type.shape, Shape{2});
}

TEST(ConstantFolding, FoldsChainsAndDropsWhatTheyUsed) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("w", float_tensor({1}))
                    .node("Neg", {"w"}, {"a"})
                    .node("Abs", {"a"}, {"b"})
                    .node("Add", {"x", "b"}, {"y"})
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  EXPECT_EQ(fold(graph, evaluator).folded_nodes, 2u);
  EXPECT_THAT(evaluator.evaluated, ElementsAre("a", "b"));
  EXPECT_THAT(node_names(graph), ElementsAre("y"));
  EXPECT_EQ(graph.initializers.size(), 1u);
}

TEST(ConstantFolding, FoldsAGraphOutput) {
  Graph graph =
      GraphBuilder().constant("w", float_tensor({1})).node("Neg", {"w"}, {"y"}).output("y").build();
  FakeEvaluator evaluator;
  EXPECT_EQ(fold(graph, evaluator).folded_nodes, 1u);
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_NE(graph.constant(graph.outputs[0]), nullptr);
}

TEST(ConstantFolding, FoldsTheShapeOfAStaticValue) {
  Graph graph = GraphBuilder()
                    .input("x", tensor_type(ElementType::kFloat, Shape{2, 3}))
                    .node("Shape", {"x"}, {"s"})
                    .node("Reshape", {"x", "s"}, {"y"})
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  EXPECT_EQ(fold(graph, evaluator).folded_nodes, 1u);
  EXPECT_NE(graph.constant(graph.find_value("s")), nullptr);
}

void expect_kept(GraphBuilder builder) {
  Graph graph = builder.output("y").build();
  FakeEvaluator evaluator;
  EXPECT_EQ(fold(graph, evaluator).folded_nodes, 0u);
  EXPECT_THAT(evaluator.evaluated, IsEmpty());
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST(ConstantFolding, LeavesRandomNodes) {
  for (const char* op : {"RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"}) {
    GraphBuilder builder;
    expect_kept(std::move(builder.constant("w", float_tensor({1})).node(op, {"w"}, {"y"})));
  }
  for (const char* op : {"RandomNormal", "RandomUniform"}) {
    GraphBuilder builder;
    expect_kept(std::move(builder.node(op, {}, {"y"})));
  }
}

TEST(ConstantFolding, LeavesOtherDomains) {
  Graph graph =
      GraphBuilder().constant("w", float_tensor({1})).node("Neg", {"w"}, {"y"}).output("y").build();
  graph.nodes[0].domain = "com.example";
  FakeEvaluator evaluator;
  EXPECT_EQ(fold(graph, evaluator).folded_nodes, 0u);
}

TEST(ConstantFolding, LeavesWhatTheCallerKeepsAndWhatDependsOnIt) {
  Graph graph = GraphBuilder()
                    .constant("w", float_tensor({1}))
                    .node("Neg", {"w"}, {"n"})
                    .node("Abs", {"n"}, {"a"})
                    .node("Neg", {"a"}, {"y"})
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  FoldOptions options;
  options.keeps = [](const Graph& level, NodeId node) {
    return level.nodes[node].op_type == "Abs";
  };
  EXPECT_EQ(fold(graph, evaluator, options).folded_nodes, 1u);
  EXPECT_THAT(node_names(graph), ElementsAre("a", "y"));
  EXPECT_NE(graph.constant(graph.find_value("n")), nullptr);
}

TEST(ConstantFolding, KeepsConstantsThatAnnotationsName) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("scale", float_tensor({1}))
                    .node("Neg", {"scale"}, {"n"})
                    .node("Add", {"x", "n"}, {"y"})
                    .output("y")
                    .build();
  graph.annotations = {{.value = graph.find_value("x"),
                        .parameters = {{"SCALE_TENSOR", graph.find_value("scale")}}}};
  FakeEvaluator evaluator;
  EXPECT_EQ(fold(graph, evaluator).folded_nodes, 1u);
  ASSERT_EQ(graph.annotations.size(), 1u);
  EXPECT_NE(graph.constant(graph.annotations[0].parameters[0].second), nullptr);
}

TEST(ConstantFolding, TurnsConstantNodesIntoInitializersWhateverTheCallerKeeps) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Constant", {}, {"w"})
                    .attribute("value", float_tensor({1, 2}))
                    .node("Add", {"x", "w"}, {"y"})
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  FoldOptions options;
  options.keeps = [](const Graph&, NodeId) { return true; };
  EXPECT_EQ(fold(graph, evaluator, options).folded_nodes, 1u);
}

TEST(QuantizationNodes, AreThoseOfBothDomains) {
  graph::Node node{.op_type = "DequantizeLinear"};
  EXPECT_TRUE(is_quantization(node));
  node.domain = "com.microsoft";
  EXPECT_TRUE(is_quantization(node));
  node.op_type = "QuantizeLinear";
  EXPECT_TRUE(is_quantization(node));
  node.op_type = "DynamicQuantizeLinear";
  EXPECT_FALSE(is_quantization(node));
  EXPECT_FALSE(is_quantization({.op_type = "QuantizeLinear", .domain = "com.example"}));
}

TEST(ConstantFolding, LeavesInitializersThatCallersMayOverride) {
  GraphBuilder builder;
  expect_kept(
      std::move(builder.constant("w", float_tensor({1})).input("w").node("Neg", {"w"}, {"y"})));
}

TEST(ConstantFolding, LeavesDropoutThatTrains) {
  const auto dropout = [](int32_t version, std::vector<Tensor> more) {
    GraphBuilder builder;
    builder.constant("w", float_tensor({1})).constant("r", float_tensor({0.5f}));
    if (more.empty()) {
      builder.node("Dropout", {"w"}, {"y"});
    } else {
      builder.constant("t", more[0]).node("Dropout", {"w", "r", "t"}, {"y"});
    }
    Graph graph = builder.output("y").build();
    graph.nodes[0].since_version = version;
    FakeEvaluator evaluator;
    return fold(graph, evaluator).folded_nodes;
  };
  const Tensor yes =
      graph::testing::make_tensor<uint8_t>(ElementType::kBool, {}, std::vector<uint8_t>{1});
  const Tensor no =
      graph::testing::make_tensor<uint8_t>(ElementType::kBool, {}, std::vector<uint8_t>{0});
  EXPECT_EQ(dropout(6, {}), 0u);
  EXPECT_EQ(dropout(7, {}), 1u);
  EXPECT_EQ(dropout(13, {yes}), 0u);
  EXPECT_EQ(dropout(13, {no}), 1u);
}

TEST(ConstantFolding, LeavesANodeThatTheEvaluatorCannotDo) {
  Graph graph =
      GraphBuilder().constant("w", float_tensor({1})).node("Neg", {"w"}, {"y"}).output("y").build();
  FakeEvaluator evaluator;
  evaluator.able = false;
  EXPECT_EQ(fold(graph, evaluator).folded_nodes, 0u);
  EXPECT_THAT(evaluator.evaluated, IsEmpty());
}

// Folds one Neg of the given output type with the given answer and returns why it was not folded.
std::vector<std::string> skipped(Result<std::vector<Tensor>> answer, graph::ValueType type = {},
                                 const FoldOptions& options = {}) {
  Graph graph =
      GraphBuilder().constant("w", float_tensor({1})).node("Neg", {"w"}, {"y"}).output("y").build();
  graph.values[graph.find_value("y")].type = std::move(type);
  FakeEvaluator evaluator;
  evaluator.answer = [&](const Graph&, NodeId) { return answer; };
  FoldReport report = fold(graph, evaluator, options);
  EXPECT_EQ(report.folded_nodes, report.skipped.empty() ? 1u : 0u);
  EXPECT_EQ(graph.nodes.size(), report.skipped.empty() ? 0u : 1u);
  return report.skipped;
}

TEST(ConstantFolding, ReportsWhyEvaluationFailed) {
  EXPECT_THAT(skipped(Status(StatusCode::kEpFail, "no kernel")),
              ElementsAre("Neg node \"y\" is not folded: no kernel"));
}

TEST(ConstantFolding, RefusesInvalidResults) {
  EXPECT_THAT(skipped(std::vector<Tensor>{}),
              ElementsAre(HasSubstr("gave 0 outputs instead of 1")));
  Tensor torn = float_tensor({1, 2});
  torn.shape = {3};
  EXPECT_THAT(skipped(std::vector<Tensor>{torn}),
              ElementsAre(HasSubstr("\"y\" a size that contradicts its shape")));
  const std::vector<Tensor> good{float_tensor({1, 2})};
  const std::string other = "a type or shape that contradicts the graph";
  EXPECT_THAT(skipped(good, tensor_type(ElementType::kInt64)), ElementsAre(HasSubstr(other)));
  EXPECT_THAT(skipped(good, tensor_type(ElementType::kFloat, Shape{3})),
              ElementsAre(HasSubstr(other)));
  EXPECT_THAT(skipped(good, tensor_type(ElementType::kFloat, Shape{2, 1})),
              ElementsAre(HasSubstr(other)));
  EXPECT_THAT(skipped(good, {.kind = graph::ValueKind::kSequence}), ElementsAre(HasSubstr(other)));
  EXPECT_THAT(skipped(good, tensor_type(ElementType::kFloat, Shape{graph::kUnknownDim})),
              IsEmpty());
}

TEST(ConstantFolding, LimitsTheSizeOfResults) {
  const std::vector<Tensor> large{float_tensor({1, 2, 3, 4})};
  EXPECT_THAT(skipped(large, {}, {.max_output_bytes = 15}),
              ElementsAre(HasSubstr("too large to keep")));
  EXPECT_THAT(skipped(large, {}, {.max_output_bytes = 16}), IsEmpty());
}

TEST(ConstantFolding, DoesNotTryWhatIsKnownToBeTooLarge) {
  const auto attempts = [](const char* op, graph::ValueType type) {
    Graph graph =
        GraphBuilder().constant("w", float_tensor({1})).node(op, {"w"}, {"y"}).output("y").build();
    graph.values[graph.find_value("y")].type = std::move(type);
    FakeEvaluator evaluator;
    fold(graph, evaluator);
    return evaluator.evaluated.size();
  };
  EXPECT_EQ(attempts("Neg", tensor_type(ElementType::kFloat, Shape{1 << 30})), 0u);
  EXPECT_EQ(attempts("Neg", tensor_type(ElementType::kFloat, Shape{INT64_MAX, 4})), 0u);
  EXPECT_EQ(attempts("Expand", {}), 0u);
  EXPECT_EQ(attempts("Expand", tensor_type(ElementType::kFloat, Shape{1})), 1u);
  EXPECT_EQ(attempts("Neg", {}), 1u);
}

TEST(ConstantFolding, FoldsInSubgraphsWithTheConstantsAroundThem) {
  GraphBuilder outer;
  outer.input("cond").input("x").constant("w", float_tensor({1}));
  Graph body = GraphBuilder()
                   .capture("w", outer.value("w"))
                   .capture("x", outer.value("x"))
                   .node("Neg", {"w"}, {"n"})
                   .node("Add", {"x", "n"}, {"t"})
                   .output("t")
                   .build();
  Graph graph = outer.node("If", {"cond"}, {"y"})
                    .subgraph("then_branch", std::move(body))
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  EXPECT_EQ(fold(graph, evaluator).folded_nodes, 1u);
  const Graph& folded = *graph.nodes[0].subgraph("then_branch");
  EXPECT_THAT(node_names(folded), ElementsAre("t"));
  EXPECT_NE(folded.constant(folded.find_value("n")), nullptr);
  EXPECT_TRUE(graph.initializers.empty()) << "nothing outside uses w any more";
}

TEST(ConstantFolding, NeverFoldsANodeWithSubgraphs) {
  GraphBuilder outer;
  outer.constant("cond", float_tensor({1}));
  Graph body = GraphBuilder().constant("c", float_tensor({1})).output("c").build();
  Graph graph = outer.node("If", {"cond"}, {"y"})
                    .subgraph("then_branch", std::move(body))
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  EXPECT_EQ(fold(graph, evaluator).folded_nodes, 0u);
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST(ConstantFolding, StaysConnectedWhereABodyTakesAConstantThatOthersUseToo) {
  GraphBuilder outer;
  outer.input("cond").constant("w", float_tensor({1}));
  Graph body =
      GraphBuilder().capture("w", outer.value("w")).node("Neg", {"w"}, {"n"}).output("n").build();
  Graph graph = outer.node("If", {"cond"}, {"t"})
                    .subgraph("then_branch", std::move(body))
                    .node("Add", {"t", "w"}, {"y"})
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  fold(graph, evaluator);  // checks the graph
  EXPECT_NE(graph.constant(graph.find_value("w")), nullptr);
}

TEST(ConstantFolding, EndsWhenItIsCancelled) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  std::atomic<bool> cancelled = false;
  evaluator.answer = [&](const Graph& folded, NodeId node) {
    cancelled = true;
    return four_floats(folded, node);
  };
  FoldBudget budget;
  const auto report =
      fold_constants(graph, evaluator, budget, {.cancellation = Cancellation(&cancelled)});
  EXPECT_EQ(report.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(evaluator.evaluated.size(), 1U);
}

}  // namespace
}  // namespace ephost::optimize::constant_folding_test
