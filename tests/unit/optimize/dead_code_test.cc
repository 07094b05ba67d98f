#include "host/optimize/dead_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/graph/checks.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize::dead_code_test {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::testing::GraphBuilder;
using graph::testing::node_names;
using ::testing::ElementsAre;

TEST(DeadCode, RemovesNodesValuesAndInitializersThatNothingUses) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("w", graph::testing::float_tensor({1}))
                    .node("Relu", {"x"}, {"y"})
                    .node("Add", {"x", "w"}, {"a"})
                    .node("Neg", {"a"}, {"b"})
                    .output("y")
                    .build();
  EXPECT_EQ(remove_dead_code(graph), 2u);
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_THAT(node_names(graph), ElementsAre("y"));
  EXPECT_TRUE(graph.initializers.empty());
  EXPECT_EQ(graph.find_value("a"), kNoValue);
}

TEST(DeadCode, KeepsTheConstantsThatALiveNodeNames) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("w", graph::testing::float_tensor({1}))
                    .constant("v", graph::testing::float_tensor({2}))
                    .node("EPContext", {"x"}, {"y"})
                    .node("EPContext", {"x"}, {"unused"})
                    .output("y")
                    .build();
  graph.nodes[0].kept_constants = {graph.find_value("w")};
  graph.nodes[1].kept_constants = {graph.find_value("v")};
  graph::connect(graph);
  EXPECT_EQ(remove_dead_code(graph), 1u);
  EXPECT_EQ(check_graph(graph).message(), "");
  ASSERT_EQ(graph.initializers.size(), 1u);
  EXPECT_THAT(graph.nodes[0].kept_constants, ElementsAre(graph.find_value("w")));
}

TEST(DeadCode, KeepsUnusedGraphInputs) {
  Graph graph =
      GraphBuilder().input("x").input("unused").node("Relu", {"x"}, {"y"}).output("y").build();
  EXPECT_EQ(remove_dead_code(graph), 0u);
  EXPECT_EQ(graph.inputs.size(), 2u);
}

TEST(DeadCode, KeepsTheUnusedOutputsOfALiveNode) {
  Graph graph = GraphBuilder().input("x").node("Split", {"x"}, {"a", "b"}).output("a").build();
  EXPECT_EQ(remove_dead_code(graph), 0u);
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_EQ(graph.nodes[0].outputs.size(), 2u);
}

TEST(DeadCode, FollowsWhatSubgraphsCapture) {
  GraphBuilder outer;
  outer.input("cond").input("x").node("Neg", {"x"}, {"used"}).node("Abs", {"x"}, {"unused"});
  Graph body = GraphBuilder()
                   .capture("used", outer.value("used"))
                   .capture("unused", outer.value("unused"))
                   .node("Relu", {"used"}, {"r"})
                   .node("Exp", {"unused"}, {"e"})
                   .output("r")
                   .build();
  Graph graph = outer.node("If", {"cond"}, {"y"})
                    .subgraph("then_branch", std::move(body))
                    .output("y")
                    .build();
  EXPECT_EQ(remove_dead_code(graph), 2u);
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_THAT(node_names(graph), ElementsAre("used", "y"));
  EXPECT_THAT(node_names(*graph.nodes[1].subgraph("then_branch")), ElementsAre("r"));
}

TEST(DeadCode, RemovesANodeWithoutOutputs) {
  Graph graph = GraphBuilder().input("x").node("Relu", {"x"}, {}).output("x").build();
  EXPECT_EQ(remove_dead_code(graph), 1u);
}

}  // namespace
}  // namespace ephost::optimize::dead_code_test
