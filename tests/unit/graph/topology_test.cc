#include "host/graph/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/graph/checks.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::graph::topology_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::HasSubstr;

TEST(Topology, KeepsAnOrderThatIsValid) {
  const Graph graph = GraphBuilder()
                          .input("x")
                          .node("A", {"x"}, {"a"})
                          .node("B", {"x"}, {"b"})
                          .node("C", {"a"}, {"c"})
                          .build();
  EXPECT_THAT(*topological_order(graph), ElementsAre(0, 1, 2));
}

TEST(Topology, TakesTheSmallestReadyNodeFirst) {
  const Graph graph = GraphBuilder()
                          .input("x")
                          .node("Last", {"b"}, {"c"})
                          .node("Free", {"x"}, {"f"})
                          .node("First", {"x"}, {"a"})
                          .node("Middle", {"a"}, {"b"})
                          .build();
  EXPECT_THAT(*topological_order(graph), ElementsAre(1, 2, 3, 0));
}

TEST(Topology, NamesANodeOnTheCycle) {
  const Graph graph = GraphBuilder()
                          .node("After", {"b"}, {"after"})
                          .node("P", {"b"}, {"a"})
                          .node("Q", {"a"}, {"b"})
                          .build();
  const auto order = topological_order(graph);
  ASSERT_FALSE(order.ok());
  EXPECT_EQ(order.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(order.status().message(),
              ::testing::AnyOf(HasSubstr("P node \"a\""), HasSubstr("Q node \"b\"")));
}

TEST(Topology, ANodeThatReadsItsOwnOutputIsACycle) {
  const Graph graph = GraphBuilder().node("Loop", {"a"}, {"a"}).build();
  EXPECT_FALSE(topological_order(graph).ok());
}

TEST(Topology, WaitsForCapturedValues) {
  GraphBuilder outer;
  outer.input("cond").input("x");
  const ValueId late = outer.value("late");
  Graph body =
      GraphBuilder().capture("late", late).node("Relu", {"late"}, {"r"}).output("r").build();
  const Graph graph = outer.node("If", {"cond"}, {"y"})
                          .subgraph("then_branch", std::move(body))
                          .node("Neg", {"x"}, {"late"})
                          .output("y")
                          .build();
  EXPECT_THAT(*topological_order(graph), ElementsAre(1, 0));
}

TEST(Topology, SortsSubgraphsToo) {
  GraphBuilder outer;
  outer.input("cond").input("x");
  const ValueId x = outer.value("x");
  Graph body = GraphBuilder()
                   .capture("x", x)
                   .node("Second", {"a"}, {"b"})
                   .node("First", {"x"}, {"a"})
                   .output("b")
                   .build();
  Graph graph = outer.node("If", {"cond"}, {"y"})
                    .subgraph("then_branch", std::move(body))
                    .output("y")
                    .build();
  EXPECT_FALSE(check_graph(graph).ok());
  ASSERT_THAT(sort_topologically(graph), IsOk());
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_THAT(testing::node_names(*graph.nodes[0].subgraph("then_branch")), ElementsAre("a", "b"));
}

TEST(Topology, OrdersALongReversedChain) {
  Graph graph;
  constexpr uint32_t kLength = 100'000;
  for (uint32_t i = 0; i <= kLength; ++i) graph.add_value({.name = "v" + std::to_string(i)});
  graph.inputs = {0};
  graph.outputs = {kLength};
  for (uint32_t i = kLength; i > 0; --i) {
    graph.add_node({.op_type = "Relu", .inputs = {i - 1}, .outputs = {i}});
  }
  connect(graph);
  ASSERT_THAT(sort_topologically(graph), IsOk());
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_EQ(graph.nodes[0].inputs[0], 0u);
}

}  // namespace
}  // namespace ephost::graph::topology_test
