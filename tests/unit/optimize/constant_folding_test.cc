#include "host/optimize/constant_folding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>

#include "host/graph/checks.h"
#include "host/graph/connect.h"
#include "host/optimize/fold_work.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize {
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Answers each evaluation with what the test says; by default with one float, 42.
class FakeEvaluator final : public Evaluator {
 public:
  bool can_evaluate(const Graph&, NodeId) const override { return able; }

  Result<std::vector<Tensor>> evaluate(const Graph& graph, NodeId node,
                                       EvaluationLimit& limit) override {
    evaluated.push_back(graph.nodes[node].name);
    last_limit = limit.max_output_bytes;
    limit.is_exceeded = exceeds;
    return answer(graph, node);
  }

  bool able = true;
  bool exceeds = false;
  uint64_t last_limit = 0;
  std::vector<std::string> evaluated;
  std::function<Result<std::vector<Tensor>>(const Graph&, NodeId)> answer = [](const Graph& graph,
                                                                               NodeId node) {
    return std::vector<Tensor>(graph.nodes[node].outputs.size(), float_tensor({42}));
  };
};

FoldReport fold(Graph& graph, FakeEvaluator& evaluator, FoldBudget& budget,
                const FoldOptions& options = {}) {
  Result<FoldReport> report = fold_constants(graph, evaluator, budget, options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(check_graph(graph).message(), "");
  return std::move(report).value();
}

FoldReport fold(Graph& graph, FakeEvaluator& evaluator, const FoldOptions& options = {}) {
  FoldBudget budget;
  return fold(graph, evaluator, budget, options);
}

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

TEST(ConstantFolding, RefusesResultsThatMakeNoSense) {
  EXPECT_THAT(skipped(std::vector<Tensor>{}),
              ElementsAre(HasSubstr("gave 0 outputs instead of 1")));
  Tensor torn = float_tensor({1, 2});
  torn.shape = {3};
  EXPECT_THAT(skipped(std::vector<Tensor>{torn}),
              ElementsAre(HasSubstr("\"y\" a size that its shape denies")));
  const std::vector<Tensor> good{float_tensor({1, 2})};
  const std::string other = "a type or shape other than the graph states";
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

// ---- The budget --------------------------------------------------------------------------------

constexpr uint64_t kFloats = 4 * sizeof(float);  // bytes of each constant below

Result<std::vector<Tensor>> four_floats(const Graph&, NodeId) {
  return std::vector<Tensor>{float_tensor({1, 2, 3, 4})};
}

// x + f(w) + g(w), where all have four elements, or f(f(w)) in place of g(w).
Graph two_folds(bool in_a_row) {
  return GraphBuilder()
      .input("x")
      .constant("w", float_tensor({1, 2, 3, 4}))
      .node("Neg", {"w"}, {"a"})
      .node("Abs", {in_a_row ? "a" : "w"}, {"b"})
      .node("Sum", {"x", "w", "b", in_a_row ? "b" : "a"}, {"y"})
      .output("y")
      .build();
}

TEST(FoldBudget, LeavesNodesThatItsBytesDoNotSufficeForAndSaysSoOnce) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  FoldBudget budget({.max_bytes = kFloats});
  const FoldReport report = fold(graph, evaluator, budget);
  EXPECT_EQ(report.folded_nodes, 1U);
  EXPECT_EQ(report.over_budget, 1U);
  EXPECT_THAT(node_names(graph), ElementsAre("b", "y"));
  EXPECT_EQ(report.budget_note,
            "constant folding left a node to be computed in each run, because the result of Abs "
            "node \"b\" needs 1 bytes or more, and 0 are left of "
            "optimization.constant_folding_max_bytes=16, which may be raised");
  EXPECT_THAT(report.skipped, IsEmpty());
}

TEST(FoldBudget, CountsTheNodesThatItLeaves) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  FoldBudget budget({.max_bytes = kFloats - 1});
  const FoldReport report = fold(graph, evaluator, budget);
  EXPECT_EQ(report.over_budget, 2U);
  EXPECT_THAT(report.budget_note, HasSubstr("left 2 nodes"));
  EXPECT_THAT(report.budget_note, HasSubstr("Neg node \"a\""));
}

TEST(FoldBudget, DoesNotEvaluateWhatIsKnownNotToFit) {
  Graph graph = two_folds(false);
  for (const char* name : {"a", "b"}) {
    graph.values[graph.find_value(name)].type = tensor_type(ElementType::kFloat, Shape{4});
  }
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  FoldBudget budget({.max_bytes = kFloats});
  EXPECT_THAT(fold(graph, evaluator, budget).budget_note, HasSubstr("needs 16 bytes or more"));
  EXPECT_THAT(evaluator.evaluated, ElementsAre("a"));
}

TEST(FoldBudget, IsGivenBackWhatNobodyNeedsAnyMore) {
  Graph graph = two_folds(true);
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  FoldBudget budget({.max_bytes = 2 * kFloats});
  EXPECT_EQ(fold(graph, evaluator, budget).folded_nodes, 2U);
  EXPECT_EQ(budget.bytes_left(), kFloats) << "a is gone";
}

TEST(FoldBudget, LetsAResultTakeThePlaceOfWhatItIsMadeOf) {
  Graph graph = two_folds(true);
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  FoldBudget budget({.max_bytes = kFloats});
  EXPECT_EQ(fold(graph, evaluator, budget).folded_nodes, 2U) << "b takes the place of a";
}

TEST(FoldBudget, LetsAConstantOfTheModelGiveWayToItsResult) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("w", float_tensor({1, 2, 3, 4}))
                    .node("Neg", {"w"}, {"a"})
                    .node("Add", {"x", "a"}, {"y"})
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  FoldBudget budget({.max_bytes = 0});
  EXPECT_EQ(fold(graph, evaluator, budget).folded_nodes, 1U);
}

TEST(FoldBudget, CountsAnInputThatIsReadTwiceOnce) {
  const std::vector<Tensor> doubled{float_tensor({1, 2, 1, 2})};
  Graph graph = GraphBuilder()
                    .constant("w", float_tensor({1, 2}))
                    .node("Concat", {"w", "w"}, {"y"})
                    .output("y")
                    .build();
  FakeEvaluator evaluator;
  evaluator.answer = [&](const Graph&, NodeId) { return doubled; };
  EXPECT_EQ(fold(graph, evaluator, {.max_output_bytes = 8}).folded_nodes, 0U);
}

TEST(FoldBudget, HoldsForAllGraphsAndRoundsOfAModel) {
  FoldBudget budget({.max_bytes = 2 * kFloats});
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  Graph graph = two_folds(false);
  EXPECT_EQ(fold(graph, evaluator, budget).folded_nodes, 2U);
  // Another node comes between the rounds.
  graph.nodes.front().inputs.push_back(graph.add_value({.name = "late"}));
  graph.nodes.insert(
      graph.nodes.begin(),
      {.op_type = "Neg", .inputs = {graph.find_value("w")}, .outputs = {graph.find_value("late")}});
  graph::connect(graph);
  EXPECT_EQ(fold(graph, evaluator, budget).over_budget, 1U);
}

TEST(FoldBudget, IsNotForConstantsThatComeOtherwise) {
  FoldBudget budget({.max_bytes = kFloats});
  FakeEvaluator evaluator;
  Graph small = GraphBuilder().input("x").node("Neg", {"x"}, {"y"}).output("y").build();
  fold(small, evaluator, budget);
  Graph grown = two_folds(true);
  fold(grown, evaluator, budget);
  EXPECT_EQ(budget.bytes_left(), kFloats - sizeof(float)) << "what was folded to 42, and not w";
}

TEST(FoldBudget, TellsTheEvaluatorWhatIsLeft) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  FoldBudget budget({.max_bytes = kFloats + 3});
  evaluator.exceeds = true;
  fold(graph, evaluator, budget);
  EXPECT_EQ(evaluator.last_limit, 3U);
}

TEST(FoldBudget, TakesAnEvaluatorThatGaveUpForTheBudgetsFault) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  evaluator.exceeds = true;
  evaluator.answer = [](const Graph&, NodeId) { return Status(StatusCode::kFail, "too much"); };
  FoldBudget budget({.max_bytes = 3});
  const FoldReport report = fold(graph, evaluator, budget);
  EXPECT_EQ(report.over_budget, 2U);
  EXPECT_THAT(report.skipped, IsEmpty());
}

TEST(FoldBudget, EndsWithItsWork) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  FoldBudget budget;
  budget.spend(budget.work_left() - kEvaluationWork * 3 / 2 - 3 * kVisitWork);
  const FoldReport report = fold(graph, evaluator, budget);
  EXPECT_THAT(evaluator.evaluated, ElementsAre("a"));
  EXPECT_EQ(report.over_budget, 1U);
  EXPECT_THAT(report.budget_note, HasSubstr("Abs node \"b\" is 10004 units of work, and "));
  EXPECT_THAT(report.budget_note, HasSubstr("optimization.constant_folding_max_work="));
}

TEST(FoldBudget, GivesNoMoreThanATenthOfItsWorkToANode) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  FoldBudget budget({.max_work = 10 * kEvaluationWork});
  const FoldReport report = fold(graph, evaluator, budget);
  EXPECT_THAT(evaluator.evaluated, IsEmpty());
  EXPECT_THAT(report.budget_note, HasSubstr("a single node may have 10000 of what is left"));
}

TEST(FoldBudget, CountsWorkThatOnlyTheResultShows) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  FoldBudget budget;
  fold(graph, evaluator, budget);
  constexpr uint64_t kOfANode = kEvaluationWork + 4 + 4;  // what it reads and writes
  EXPECT_EQ(budget.limits().max_work - budget.work_left(), 2 * kOfANode + 3 * kVisitWork);
}

TEST(FoldBudget, SparseConstantsBecomeDenseWithinIt) {
  const auto folded = [](uint64_t max_bytes) {
    graph::SparseTensor sparse{
        .values = float_tensor({1}),
        .indices = graph::testing::make_tensor<int64_t>(ElementType::kInt64, {1}, {0}),
        .shape = {1000}};
    Graph graph = GraphBuilder()
                      .input("x")
                      .node("Constant", {}, {"c"})
                      .attribute("sparse_value", std::move(sparse))
                      .node("Add", {"x", "c"}, {"y"})
                      .output("y")
                      .build();
    FakeEvaluator evaluator;
    FoldBudget budget({.max_bytes = max_bytes});
    return fold(graph, evaluator, budget).folded_nodes;
  };
  EXPECT_EQ(folded(3999), 0U);
  EXPECT_EQ(folded(4000), 1U);
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
  EXPECT_EQ(report.status().code(), StatusCode::kModelLoadCanceled);
  EXPECT_EQ(evaluator.evaluated.size(), 1U);
}

}  // namespace
}  // namespace ephost::optimize
