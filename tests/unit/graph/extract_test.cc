#include "host/graph/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/graph/checks.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::graph::extract_test {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;
using testing::value_names;

// x -> Conv(w) -> a -> Relu -> b -> Add(x) -> y; b is also used by Neg -> z.
Graph sample() {
  return GraphBuilder()
      .input("x")
      .constant("w", testing::float_tensor({1, 2}))
      .node("Conv", {"x", "w"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("Add", {"b", "x"}, {"y"})
      .node("Neg", {"b"}, {"z"})
      .output("y")
      .output("z")
      .build();
}

TEST(Extract, MakesAGraphOfItsOwn) {
  const Graph graph = sample();
  const std::vector<NodeId> nodes{2, 0, 1};
  const Extraction taken = extract_subgraph(graph, nodes, "part");
  EXPECT_EQ(check_graph(taken.graph).message(), "");
  EXPECT_EQ(taken.graph.name, "part");
  EXPECT_THAT(testing::node_names(taken.graph), ElementsAre("a", "b", "y"));
  EXPECT_THAT(value_names(taken.graph, taken.graph.inputs), ElementsAre("x"));
  EXPECT_THAT(value_names(taken.graph, taken.graph.outputs), ElementsAre("b", "y"));
}

TEST(Extract, TakesAnnotationsWithTheirConstants) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("scale", testing::float_tensor({2}))
                    .node("Relu", {"x"}, {"a"})
                    .node("Neg", {"a"}, {"y"})
                    .output("y")
                    .build();
  const auto id = [&](const char* name) { return graph.find_value(name); };
  graph.annotations = {
      {.value = id("a"), .parameters = {{"SCALE_TENSOR", id("scale")}, {"OTHER", id("x")}}},
      {.value = id("y")}};
  const Graph taken = extract_subgraph(graph, std::vector<NodeId>{1}, "part").graph;
  EXPECT_EQ(check_graph(taken).message(), "");
  ASSERT_EQ(taken.annotations.size(), 2u);
  EXPECT_EQ(taken.annotations[0].value, taken.find_value("a"));
  ASSERT_EQ(taken.annotations[0].parameters.size(), 1u);
  EXPECT_EQ(taken.annotations[0].parameters[0].first, "SCALE_TENSOR");
  EXPECT_NE(taken.constant(taken.annotations[0].parameters[0].second), nullptr);
  EXPECT_THAT(value_names(taken, taken.inputs), ElementsAre("a"));
}

TEST(Extract, LeavesOutWhatANodeOnlyKeeps) {
  Graph graph = sample();
  graph.nodes[1].kept_constants = {graph.find_value("w")};
  connect(graph);
  const Graph taken = extract_subgraph(graph, std::vector<NodeId>{1}, "part").graph;
  EXPECT_EQ(check_graph(taken).message(), "");
  EXPECT_TRUE(taken.nodes[0].kept_constants.empty());
  EXPECT_TRUE(taken.initializers.empty());
}

TEST(Extract, SharesTheDataOfConstants) {
  const Graph graph = sample();
  const Extraction taken = extract_subgraph(graph, std::vector<NodeId>{0}, "part");
  ASSERT_EQ(taken.graph.initializers.size(), 1u);
  EXPECT_EQ(taken.graph.initializers[0].data.bytes.data(), graph.initializers[0].data.bytes.data());
  EXPECT_EQ(taken.graph.initializers[0].data.owner, graph.initializers[0].data.owner);
}

TEST(Extract, MapsLocalIdsToOriginalOnes) {
  const Graph graph = sample();
  const Extraction taken = extract_subgraph(graph, std::vector<NodeId>{3, 1}, "part");
  EXPECT_THAT(taken.original_nodes, ElementsAre(1, 3));
  ASSERT_EQ(taken.original_values.size(), taken.graph.values.size());
  for (ValueId id = 0; id < taken.graph.values.size(); ++id) {
    EXPECT_EQ(taken.graph.values[id].name, graph.values[taken.original_values[id]].name);
  }
}

TEST(Extract, OrdersInputsByFirstUse) {
  const Graph graph = GraphBuilder()
                          .input("p")
                          .input("q")
                          .input("r")
                          .node("Sub", {"r", "p"}, {"a"})
                          .node("Add", {"a", "q"}, {"y"})
                          .output("y")
                          .build();
  const Extraction taken = extract_subgraph(graph, std::vector<NodeId>{0, 1}, "part");
  EXPECT_THAT(value_names(taken.graph, taken.graph.inputs), ElementsAre("r", "p", "q"));
}

TEST(Extract, AnInitializerThatCallersCanOverrideIsAnInput) {
  const Graph graph = GraphBuilder()
                          .constant("w", testing::float_tensor({1}))
                          .input("w")
                          .node("Neg", {"w"}, {"y"})
                          .output("y")
                          .build();
  const Extraction taken = extract_subgraph(graph, std::vector<NodeId>{0}, "part");
  EXPECT_THAT(value_names(taken.graph, taken.graph.inputs), ElementsAre("w"));
  EXPECT_TRUE(taken.graph.initializers.empty());
}

TEST(Extract, TakesSubgraphsWithWhatTheyCapture) {
  GraphBuilder outer;
  outer.input("unrelated").input("cond").input("x").constant("w", testing::float_tensor({1}));
  const ValueId x = outer.value("x");
  const ValueId w = outer.value("w");
  Graph body = GraphBuilder()
                   .capture("x", x)
                   .capture("w", w)
                   .node("Add", {"x", "w"}, {"t"})
                   .output("t")
                   .build();
  const Graph graph = outer.node("If", {"cond"}, {"y"})
                          .subgraph("then_branch", std::move(body))
                          .output("y")
                          .build();
  const Extraction taken = extract_subgraph(graph, std::vector<NodeId>{0}, "part");
  EXPECT_EQ(check_graph(taken.graph).message(), "");
  EXPECT_THAT(value_names(taken.graph, taken.graph.inputs), ElementsAre("cond", "x"));
  EXPECT_EQ(taken.graph.initializers.size(), 1u);
  EXPECT_THAT(value_names(taken.graph, taken.graph.nodes[0].implicit_inputs),
              ElementsAre("x", "w"));
  EXPECT_EQ(graph.nodes[0].subgraph("then_branch")->values[0].outer, x);
}

}  // namespace
}  // namespace ephost::graph::extract_test
