#include "host/graph/graph.h"

#include <gtest/gtest.h>

#include "host/base/files/file.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::graph::graph_test {
namespace {

using testing::GraphBuilder;

TEST(Graph, FindsAttributesByNameAndType) {
  const Graph graph = GraphBuilder()
                          .node("Op", {}, {"y"})
                          .attribute("axis", int64_t{2})
                          .attribute("mode", std::string("linear"))
                          .build();
  const Node& node = graph.nodes[0];
  EXPECT_EQ(node.integer("axis"), 2);
  EXPECT_EQ(node.string("mode"), "linear");
  EXPECT_FALSE(node.integer("mode"));
  EXPECT_FALSE(node.string("axis"));
  EXPECT_FALSE(node.integer("missing"));
  EXPECT_EQ(node.attribute("missing"), nullptr);
  EXPECT_EQ(node.subgraph("axis"), nullptr);
}

TEST(Graph, ReadsAStringAttributeThatIsABlob) {
  const std::string_view text = "payload";
  const Graph graph = GraphBuilder()
                          .node("EPContext", {}, {"y"})
                          .attribute("ep_cache_context", Blob{.bytes = as_bytes(text)})
                          .build();
  EXPECT_EQ(graph.nodes[0].string("ep_cache_context"), "payload");
}

TEST(Graph, FindsSubgraphs) {
  const Graph graph = GraphBuilder()
                          .node("If", {"c"}, {"y"})
                          .subgraph("then_branch", Graph{.name = "then"})
                          .build();
  ASSERT_NE(graph.nodes[0].subgraph("then_branch"), nullptr);
  EXPECT_EQ(graph.nodes[0].subgraph("then_branch")->name, "then");
}

TEST(Graph, ConstantsAreInitializersThatNoCallerCanOverride) {
  const Graph graph = GraphBuilder()
                          .constant("w", testing::float_tensor({1, 2}))
                          .constant("default", testing::float_tensor({3}))
                          .input("default")
                          .input("x")
                          .build();
  ASSERT_NE(graph.constant(graph.find_value("w")), nullptr);
  EXPECT_EQ(graph.constant(graph.find_value("w"))->shape, Shape{2});
  EXPECT_EQ(graph.constant(graph.find_value("default")), nullptr);
  EXPECT_EQ(graph.constant(graph.find_value("x")), nullptr);
  EXPECT_EQ(graph.constant(kNoValue), nullptr);
}

TEST(Graph, DescribesNodesByNameElseByNumber) {
  Graph graph = GraphBuilder().node("Conv", {"x"}, {"conv1"}).node("Relu", {"x"}, {}).build();
  EXPECT_EQ(describe_node(graph, 0), "Conv node \"conv1\"");
  EXPECT_EQ(describe_node(graph, 1), "Relu node #1");
}

TEST(Graph, DescribesNodesWithHostileNamesInPrintableForm) {
  Graph graph;
  graph.add_node({.name = "a\nb", .op_type = "\x1b[2J"});
  EXPECT_EQ(describe_node(graph, 0).find('\n'), std::string::npos);
  EXPECT_EQ(describe_node(graph, 0).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace ephost::graph::graph_test
