#include "host/graph/connect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/graph/graph_builder.h"

namespace ephost::graph::connect_test {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;

TEST(Connect, RecordsProducersAndConsumersOnce) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Add", {"x", "x"}, {"a"})
                    .node("Mul", {"a", "x", ""}, {"b"})
                    .output("b")
                    .build();
  const Value& x = graph.values[graph.find_value("x")];
  EXPECT_THAT(x.consumers, ElementsAre(0, 1));
  EXPECT_EQ(x.producer, kNoNode);
  EXPECT_TRUE(x.is_graph_input);
  const Value& b = graph.values[graph.find_value("b")];
  EXPECT_EQ(b.producer, 1u);
  EXPECT_TRUE(b.consumers.empty());
  EXPECT_TRUE(b.is_graph_output);
}

TEST(Connect, RemovesOutdatedConnections) {
  Graph graph = GraphBuilder().input("x").node("Relu", {"x"}, {"y"}).output("y").build();
  graph.nodes.clear();
  graph.outputs.clear();
  connect(graph);
  EXPECT_TRUE(graph.values[graph.find_value("x")].consumers.empty());
  EXPECT_EQ(graph.values[graph.find_value("y")].producer, kNoNode);
  EXPECT_FALSE(graph.values[graph.find_value("y")].is_graph_output);
}

TEST(Connect, CountsWhatSubgraphsCaptureAsUsesOfTheNode) {
  GraphBuilder outer;
  outer.input("cond").input("x").input("z");
  const ValueId x = outer.value("x");
  const ValueId z = outer.value("z");
  Graph then_branch = GraphBuilder()
                          .capture("z", z)
                          .capture("x", x)
                          .node("Add", {"z", "x"}, {"t"})
                          .output("t")
                          .build();
  Graph else_branch = GraphBuilder().capture("x", x).node("Relu", {"x"}, {"e"}).output("e").build();
  Graph graph = outer.node("If", {"cond"}, {"y"})
                    .subgraph("then_branch", std::move(then_branch))
                    .subgraph("else_branch", std::move(else_branch))
                    .output("y")
                    .build();
  EXPECT_THAT(graph.nodes[0].implicit_inputs, ElementsAre(x, z));
  EXPECT_THAT(graph.values[x].consumers, ElementsAre(0));
  EXPECT_THAT(graph.nodes[0].subgraph("else_branch")->values[0].consumers, ElementsAre(0));
}

}  // namespace
}  // namespace ephost::graph::connect_test
