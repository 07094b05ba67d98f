#include "host/plan/execution_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/partition/fake_source.h"

namespace ephost::plan::execution_plan_test {
namespace {

using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::value_names;
using partition::Partitioning;
using partition::testing::FakeSource;
using partition::testing::fused;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 0: a, 1: b, 2: c from a, 3: d from b and the constant w, 4: e from c and d
Graph diamond() {
  return GraphBuilder()
      .input("x")
      .constant("w", float_tensor({1}))
      .node("Relu", {"x"}, {"a"})
      .node("Relu", {"x"}, {"b"})
      .node("Relu", {"a"}, {"c"})
      .node("Clip", {"b", "", "w"}, {"d", ""})
      .node("Add", {"c", "d"}, {"e"})
      .output("e")
      .build();
}

Partitioning partitioned(const Graph& graph, std::vector<partition::Claim> claims) {
  FakeSource fusing("Fusing", std::move(claims));
  FakeSource rest = FakeSource::greedy("Rest");
  partition::ClaimSource* const sources[] = {&fusing, &rest};
  return *partition::partition_graph(graph, sources);
}

std::vector<NodeId> firsts(const ExecutionPlan& plan) {
  std::vector<NodeId> nodes;
  for (const Step& step : plan.steps) nodes.push_back(step.node);
  return nodes;
}

TEST(ExecutionPlan, KeepsTheFilesOrderOfSingleNodes) {
  const Graph graph = diamond();
  const auto plan = plan_execution(graph, partitioned(graph, {}));
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(firsts(*plan), ElementsAre(0U, 1U, 2U, 3U, 4U));
}

TEST(ExecutionPlan, GivesASingleNodeItsOwnSlots) {
  const Graph graph = diamond();
  const ExecutionPlan plan = *plan_execution(graph, partitioned(graph, {}));
  const Step& clip = plan.steps[3];
  EXPECT_EQ(clip.partition, kNoPartition);
  EXPECT_EQ(clip.provider, 1U);
  EXPECT_THAT(value_names(graph, clip.inputs), ElementsAre("b", "", "w"));
  EXPECT_THAT(value_names(graph, clip.outputs), ElementsAre("d", ""));
}

TEST(ExecutionPlan, PrioritiesDecideAmongWhatIsReady) {
  const Graph graph = diamond();
  const std::vector<int64_t> priorities = {0, -1, 0, 0, -9};
  const ExecutionOptions options = {ExecutionOrder::kPriority, priorities};
  EXPECT_THAT(firsts(*plan_execution(graph, partitioned(graph, {}), options)),
              ElementsAre(1U, 0U, 2U, 3U, 4U));
  // A partition has the lowest priority of its nodes.
  const std::vector<int64_t> late = {0, 5, 5, -3, 0};
  EXPECT_THAT(firsts(*plan_execution(graph, partitioned(graph, {fused({1, 3})}),
                                     {ExecutionOrder::kPriority, late})),
              ElementsAre(1U, 0U, 2U, 4U));
}

TEST(ExecutionPlan, NodesThatReadShapesComeFirst) {
  const Graph graph = GraphBuilder()
                          .input("x")
                          .node("Relu", {"x"}, {"a"})
                          .node("Relu", {"x"}, {"b"})
                          .node("Shape", {"a"}, {"s"})
                          .output("b")
                          .output("s")
                          .build();
  EXPECT_THAT(
      firsts(*plan_execution(graph, partitioned(graph, {}), {ExecutionOrder::kPriority, {}})),
      ElementsAre(0U, 2U, 1U));
}

TEST(ExecutionPlan, RunsAPartitionAsOneStepWithoutItsConstants) {
  const Graph graph = diamond();
  const ExecutionPlan plan = *plan_execution(graph, partitioned(graph, {fused({0, 3, 4, 2})}));
  ASSERT_THAT(firsts(plan), ElementsAre(1U, 0U));
  const Step& step = plan.steps[1];
  EXPECT_EQ(step.partition, 0U);
  EXPECT_EQ(step.provider, 0U);
  EXPECT_THAT(value_names(graph, step.inputs), ElementsAre("x", "b"));
  EXPECT_THAT(value_names(graph, step.outputs), ElementsAre("e"));
}

TEST(ExecutionPlan, RunsAPartitionAsSoonAsItsLastInputIsThere) {
  const Graph graph = diamond();
  EXPECT_THAT(firsts(*plan_execution(graph, partitioned(graph, {fused({0, 3})}))),
              ElementsAre(1U, 0U, 2U, 4U));
  EXPECT_THAT(firsts(*plan_execution(graph, partitioned(graph, {fused({0, 1, 2})}))),
              ElementsAre(0U, 3U, 4U));
}

TEST(ExecutionPlan, WaitsForWhatASubgraphReads) {
  GraphBuilder builder;
  builder.input("x").node("Relu", {"x"}, {"a"});
  const ValueId a = builder.value("a");
  const Graph graph = builder.node("If", {"x"}, {"b"})
                          .subgraph("then_branch", GraphBuilder()
                                                       .capture("a", a)
                                                       .node("Identity", {"a"}, {"inner"})
                                                       .output("inner")
                                                       .build())
                          .output("b")
                          .build();
  const ExecutionPlan plan = *plan_execution(graph, partitioned(graph, {}));
  EXPECT_THAT(value_names(graph, plan.steps[1].inputs), ElementsAre("x"));
  EXPECT_THAT(value_names(graph, plan.steps[1].implicit_inputs), ElementsAre("a"));
}

std::string refusal(const Graph& graph, const Partitioning& partitioning) {
  const auto plan = plan_execution(graph, partitioning);
  EXPECT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument);
  return plan.status().message();
}

TEST(ExecutionPlan, RefusesANodeWithoutOwner) {
  const Graph graph = diamond();
  Partitioning partitioning = partitioned(graph, {});
  partitioning.owner[1] = partition::kUnassigned;
  EXPECT_THAT(refusal(graph, partitioning), HasSubstr("Relu node \"b\" has no owner"));
}

TEST(ExecutionPlan, RefusesAPartitioningOfAnotherGraph) {
  const Graph graph = diamond();
  Partitioning partitioning = partitioned(graph, {});
  partitioning.owner.pop_back();
  EXPECT_THAT(refusal(graph, partitioning), HasSubstr("belongs to another graph"));
}

TEST(ExecutionPlan, RefusesAPartitionWithWrongNodes) {
  const Graph graph = diamond();
  Partitioning partitioning = partitioned(graph, {fused({0, 2})});
  partitioning.partitions[0].nodes = {0, 1};
  EXPECT_THAT(refusal(graph, partitioning), HasSubstr("node list of partition #0 is wrong"));
  partitioning.partitions[0].nodes = {2, 0};
  EXPECT_THAT(refusal(graph, partitioning), HasSubstr("node list of partition #0 is wrong"));
  partitioning.partitions[0].nodes = {0};
  EXPECT_THAT(refusal(graph, partitioning), HasSubstr("a node's partition does not list it"));
}

TEST(ExecutionPlan, RefusesPartitionsThatDependOnEachOther) {
  const Graph graph = diamond();
  Partitioning partitioning = partitioned(graph, {fused({0})});
  partitioning.partitions[0].nodes = {0, 4};  // but c lies between
  partitioning.partition_of[4] = 0;
  EXPECT_THAT(refusal(graph, partitioning), HasSubstr("depend on each other in a cycle"));
}

TEST(ExecutionPlan, PlansAGraphWithoutNodes) {
  const Graph graph = GraphBuilder().input("x").output("x").build();
  EXPECT_TRUE(plan_execution(graph, partitioned(graph, {}))->steps.empty());
}

}  // namespace
}  // namespace ephost::plan::execution_plan_test
