// Constant folding within a budget of bytes and work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/graph/connect.h"
#include "host/optimize/constant_folding.h"
#include "host/optimize/fold_work.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/optimize/folding_helpers.h"

namespace ephost::optimize::constant_folding_budget_test {
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

constexpr uint64_t kFloats = 4 * sizeof(float);  // bytes of each constant below

TEST(FoldBudget, LeavesNodesThatExceedItsBytesAndSaysSoOnce) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  evaluator.answer = four_floats;
  FoldBudget budget({.max_bytes = kFloats});
  const FoldReport report = fold(graph, evaluator, budget);
  EXPECT_EQ(report.folded_nodes, 1U);
  EXPECT_EQ(report.over_budget, 1U);
  EXPECT_THAT(node_names(graph), ElementsAre("b", "y"));
  EXPECT_EQ(report.budget_note,
            "constant folding left one node to be computed in each run, because the result of Abs "
            "node \"b\" needs 1 bytes or more, but 0 remain of "
            "optimization.constant_folding_max_bytes=16; raise the limit to fold it");
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

TEST(FoldBudget, RegainsTheBytesOfUnusedConstants) {
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
  // Another node is added between the rounds.
  graph.nodes.front().inputs.push_back(graph.add_value({.name = "late"}));
  graph.nodes.insert(
      graph.nodes.begin(),
      {.op_type = "Neg", .inputs = {graph.find_value("w")}, .outputs = {graph.find_value("late")}});
  graph::connect(graph);
  EXPECT_EQ(fold(graph, evaluator, budget).over_budget, 1U);
}

TEST(FoldBudget, DoesNotCountConstantsFromElsewhere) {
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

TEST(FoldBudget, AttributesAnEvaluatorThatGaveUpToTheBudget) {
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
  EXPECT_THAT(report.budget_note, HasSubstr("Abs node \"b\" takes 10004 units of work, but "));
  EXPECT_THAT(report.budget_note, HasSubstr("optimization.constant_folding_max_work="));
}

TEST(FoldBudget, GivesNoMoreThanATenthOfItsWorkToANode) {
  Graph graph = two_folds(false);
  FakeEvaluator evaluator;
  FoldBudget budget({.max_work = 10 * kEvaluationWork});
  const FoldReport report = fold(graph, evaluator, budget);
  EXPECT_THAT(evaluator.evaluated, IsEmpty());
  EXPECT_THAT(report.budget_note, HasSubstr("a single node may take 10000 of the remainder"));
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

}  // namespace
}  // namespace ephost::optimize::constant_folding_budget_test
