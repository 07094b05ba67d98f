#include "host/graph/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/graph/checks.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::graph::rewrite_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::value_names;

Graph diamond() {
  return GraphBuilder()
      .input("x")
      .constant("w", testing::float_tensor({1, 2}))
      .constant("v", testing::float_tensor({3}))
      .node("Conv", {"x", "w"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("Neg", {"a"}, {"c"})
      .node("Add", {"b", "c"}, {"d"})
      .node("Mul", {"d", "v"}, {"y"})
      .output("y")
      .build();
}

Node replacement(Graph& graph, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  Node node{.name = "fused", .op_type = "EPContext", .domain = "com.microsoft"};
  for (const std::string& name : inputs) node.inputs.push_back(graph.find_value(name));
  for (const std::string& name : outputs) node.outputs.push_back(graph.find_value(name));
  return node;
}

std::vector<Group> one_group(std::vector<NodeId> nodes, Node node) {
  std::vector<Group> groups;
  groups.push_back({.nodes = std::move(nodes), .replacement = std::move(node)});
  return groups;
}

TEST(Rewrite, CompactsAndRenumbers) {
  Graph graph = diamond();
  // Drop Mul and its operands, and make d the output.
  graph.outputs = {graph.find_value("d")};
  std::vector<bool> keep_values(graph.values.size(), true);
  keep_values[graph.find_value("v")] = false;
  keep_values[graph.find_value("y")] = false;
  const ValueId old_a = graph.find_value("a");
  const Renumbering numbers = compact(graph, {true, true, true, true, false}, keep_values);
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_EQ(graph.initializers.size(), 1u);
  EXPECT_EQ(numbers.nodes[4], kNoNode);
  EXPECT_EQ(numbers.values[old_a], graph.find_value("a"));
  EXPECT_THAT(value_names(graph, graph.nodes[3].inputs), ElementsAre("b", "c"));
}

TEST(Rewrite, CompactKeepsAnnotationsAndTheConstantsThatTheyName) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("gone_scale", testing::float_tensor({1}))
                    .constant("scale", testing::float_tensor({2}))
                    .node("Neg", {"x"}, {"gone"})
                    .node("Relu", {"x"}, {"y"})
                    .output("y")
                    .build();
  const auto id = [&](const char* name) { return graph.find_value(name); };
  graph.annotations = {
      {.value = id("gone"), .parameters = {{"SCALE_TENSOR", id("gone_scale")}}},
      {.value = id("y"), .parameters = {{"SCALE_TENSOR", id("scale")}, {"OTHER", id("gone")}}}};
  std::vector<bool> keep(graph.values.size());
  keep[id("x")] = keep[id("y")] = true;
  compact(graph, {false, true}, keep);
  EXPECT_EQ(check_graph(graph).message(), "");
  ASSERT_EQ(graph.annotations.size(), 1u);
  EXPECT_EQ(graph.annotations[0].value, id("y"));
  ASSERT_EQ(graph.annotations[0].parameters.size(), 1u);
  EXPECT_EQ(graph.annotations[0].parameters[0].second, id("scale"));
  EXPECT_NE(graph.constant(id("scale")), nullptr);
  EXPECT_EQ(id("gone_scale"), kNoValue);
}

// The group's node keeps w, which nothing else reads any more.
TEST(Rewrite, KeepsTheConstantsThatAReplacementNames) {
  Graph graph = diamond();
  Node fused = replacement(graph, {"x"}, {"y"});
  fused.kept_constants = {graph.find_value("w")};
  ASSERT_THAT(replace_nodes(graph, one_group({0, 1, 2, 3, 4}, std::move(fused))), IsOk());
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_EQ(graph.find_value("v"), kNoValue);
  EXPECT_THAT(value_names(graph, graph.nodes[0].kept_constants), ElementsAre("w"));
  EXPECT_THAT(graph.values[graph.find_value("w")].consumers, ElementsAre(0u));
}

TEST(Rewrite, CompactRenumbersCaptures) {
  GraphBuilder outer;
  outer.input("unused").input("cond").input("x");
  Graph body =
      GraphBuilder().capture("x", outer.value("x")).node("Neg", {"x"}, {"n"}).output("n").build();
  Graph graph = outer.node("If", {"cond"}, {"y"})
                    .subgraph("then_branch", std::move(body))
                    .output("y")
                    .build();
  graph.inputs.erase(graph.inputs.begin());
  compact(graph, {true}, {false, true, true, true});
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_EQ(graph.nodes[0].subgraph("then_branch")->values[0].outer, graph.find_value("x"));
}

TEST(Rewrite, ReplacesAGroupByItsNode) {
  Graph graph = diamond();
  Node fused = replacement(graph, {"x"}, {"d"});
  const auto numbers = replace_nodes(graph, one_group({0, 1, 2, 3}, std::move(fused)));
  ASSERT_THAT(numbers, IsOk());
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_THAT(testing::node_names(graph), ElementsAre("fused", "y"));
  EXPECT_THAT(numbers->nodes, ElementsAre(0, 0, 0, 0, 1));
  EXPECT_EQ(graph.find_value("a"), kNoValue);
  EXPECT_EQ(graph.find_value("w"), kNoValue);
  EXPECT_NE(graph.find_value("v"), kNoValue);
  EXPECT_EQ(graph.initializers.size(), 1u);
}

TEST(Rewrite, SortsTheResult) {
  // The fused node takes the place of Neg, which comes before Relu; it reads what Relu produces.
  Graph graph = diamond();
  Node fused = replacement(graph, {"a", "b"}, {"d"});
  std::swap(graph.nodes[1], graph.nodes[2]);
  connect(graph);
  const auto numbers = replace_nodes(graph, one_group({1, 3}, std::move(fused)));
  ASSERT_THAT(numbers, IsOk());
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_THAT(testing::node_names(graph), ElementsAre("a", "b", "fused", "y"));
}

TEST(Rewrite, RefusesAGroupThatIsNotConvexAndLeavesTheGraph) {
  Graph graph = diamond();
  Node fused = replacement(graph, {"x", "b", "w"}, {"a", "d"});
  const auto numbers = replace_nodes(graph, one_group({0, 2, 3}, std::move(fused)));
  ASSERT_FALSE(numbers.ok());
  EXPECT_EQ(numbers.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(numbers.status().message(), HasSubstr("cycle"));
  EXPECT_THAT(testing::node_names(graph), ElementsAre("a", "b", "c", "d", "y"));
  EXPECT_EQ(check_graph(graph).message(), "");
}

TEST(Rewrite, RefusesToLoseAValueThatIsUsed) {
  Graph graph = diamond();
  Node fused = replacement(graph, {"x"}, {"b"});
  const auto numbers = replace_nodes(graph, one_group({0, 1}, std::move(fused)));
  ASSERT_FALSE(numbers.ok());
  EXPECT_THAT(numbers.status().message(), HasSubstr("value \"a\" is still used"));
  EXPECT_EQ(check_graph(graph).message(), "");
}

TEST(Rewrite, RefusesOverlappingAndEmptyGroups) {
  Graph graph = diamond();
  std::vector<Group> groups;
  groups.push_back({.nodes = {0, 1}});
  groups.push_back({.nodes = {1}});
  EXPECT_THAT(replace_nodes(graph, std::move(groups)).status().message(), HasSubstr("node #1"));
  EXPECT_THAT(replace_nodes(graph, one_group({}, {})).status().message(), HasSubstr("is empty"));
  EXPECT_THAT(replace_nodes(graph, one_group({77}, {})).status().message(), HasSubstr("node #77"));
}

TEST(Rewrite, KeepsConstantsThatOthersUse) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("w", testing::float_tensor({1}))
                    .node("Add", {"x", "w"}, {"a"})
                    .node("Mul", {"a", "w"}, {"y"})
                    .output("y")
                    .build();
  Node fused = replacement(graph, {"x"}, {"a"});
  ASSERT_THAT(replace_nodes(graph, one_group({0}, std::move(fused))), IsOk());
  EXPECT_NE(graph.find_value("w"), kNoValue);
  EXPECT_EQ(check_graph(graph).message(), "");
}

}  // namespace
}  // namespace ephost::graph::rewrite_test
