#include "host/optimize/function_inlining.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/graph/checks.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize::function_inlining_test {
namespace {

using graph::FunctionBody;
using graph::Graph;
using graph::testing::GraphBuilder;
using graph::testing::node_names;
using graph::testing::value_names;
using ::testing::ElementsAre;

// y = Neg(Relu(x)), by value t.
FunctionBody chain() {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Relu", {"x"}, {"t"})
                    .node("Neg", {"t"}, {"y"})
                    .output("y")
                    .build();
  return {.graph = std::move(graph)};
}

std::vector<FunctionCall> calls(std::initializer_list<graph::NodeId> nodes) {
  std::vector<FunctionCall> made;
  for (const graph::NodeId node : nodes) made.push_back({node, chain()});
  return made;
}

TEST(InlineCalls, PutsBodiesInThePlaceOfCalls) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("F", {"x"}, {"a"})
                    .node("Abs", {"a"}, {"t"})
                    .node("F", {"t"}, {"b"})
                    .output("b")
                    .build();
  UniqueNames names(graph);
  const std::vector<InlinedRange> ranges = inline_calls(graph, calls({0, 2}), names);
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_THAT(node_names(graph), ElementsAre("a/t", "a/y", "t", "b/t", "b/y"));
  EXPECT_THAT(value_names(graph, graph.nodes[0].outputs), ElementsAre("a/t"));
  EXPECT_THAT(value_names(graph, graph.nodes[1].outputs), ElementsAre("a"));
  EXPECT_THAT(value_names(graph, graph.nodes[4].outputs), ElementsAre("b"));
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].end, 2u);
  EXPECT_EQ(ranges[1].begin, 2u);
  EXPECT_EQ(ranges[2].end, 5u);
}

TEST(InlineCalls, GivesNewValuesUnusedNames) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("F", {"x"}, {"a"})
                    .node("Abs", {"a"}, {"a/t"})
                    .output("a/t")
                    .build();
  UniqueNames names(graph);
  inline_calls(graph, calls({0}), names);
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_THAT(value_names(graph, graph.nodes[0].outputs), ElementsAre("a/t_1"));
}

TEST(InlineCalls, BindsCapturedValuesInBodiesAndRenamesTheirOwn) {
  GraphBuilder inner;
  GraphBuilder body;
  body.input("x").node("Relu", {"x"}, {"t"});
  inner.capture("t", body.value("t")).node("Neg", {"t"}, {"n"}).output("n");
  body.node("If", {"x"}, {"y"}).subgraph("then_branch", inner.build()).output("y");
  Graph graph = GraphBuilder().input("x").node("F", {"x"}, {"n"}).output("n").build();
  UniqueNames names(graph);
  std::vector<FunctionCall> made;
  made.push_back({0, {.graph = body.build()}});
  inline_calls(graph, std::move(made), names);
  EXPECT_EQ(check_graph(graph).message(), "");
  const Graph& then_branch = *graph.nodes[1].subgraph("then_branch");
  EXPECT_THAT(value_names(then_branch, then_branch.nodes[0].inputs), ElementsAre("n/t"));
  EXPECT_THAT(value_names(then_branch, then_branch.outputs), ElementsAre("n/n"));
}

TEST(UniqueNames, StayShort) {
  UniqueNames names{Graph()};
  const std::string name = names.make(std::string(5000, 'a'), std::string(5000, 'b'));
  EXPECT_LT(name.size(), 500u);
  EXPECT_NE(names.make(std::string(5000, 'a'), std::string(5000, 'b')), name);
}

}  // namespace
}  // namespace ephost::optimize::function_inlining_test
