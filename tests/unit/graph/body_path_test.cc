#include "host/graph/body_path.h"

#include <gtest/gtest.h>

#include "tests/unit/graph/graph_builder.h"

namespace ephost::graph::body_path_test {
namespace {

using testing::GraphBuilder;

TEST(BodyPath, NamesTheNodeOrItsOperatorAndPlace) {
  GraphBuilder builder;
  builder.node("Loop", {}, {"named"}).node("If", {}, {"y"});
  Graph graph = builder.build();
  graph.nodes[1].name.clear();
  EXPECT_EQ(body_path("", graph, 0, "body"), "named/body");
  EXPECT_EQ(body_path("outer/body", graph, 1, "else_branch"), "outer/body/If#1/else_branch");
}

TEST(BodyPath, IsFoundAtAnyDepth) {
  GraphBuilder inner;
  inner.node("Relu", {"x"}, {"y"});
  GraphBuilder middle;
  middle.node("If", {}, {"choice"}).subgraph("then_branch", inner.build());
  middle.subgraph("else_branch", Graph());
  GraphBuilder outer;
  outer.node("Relu", {"a"}, {"b"}).node("Loop", {}, {"loop"}).subgraph("body", middle.build());
  const Graph graph = outer.build();
  const Graph* body = graph.nodes[1].subgraph("body");
  const Graph* branch = body->nodes[0].subgraph("else_branch");
  EXPECT_EQ(path_of(*branch, graph), "loop/body/choice/else_branch");
  EXPECT_EQ(path_of(*body, graph), "loop/body");
  EXPECT_EQ(path_of(graph, graph), "");
  EXPECT_EQ(path_of(graph, *body), "");
}

}  // namespace
}  // namespace ephost::graph::body_path_test
