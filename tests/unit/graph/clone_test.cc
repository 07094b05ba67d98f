#include "host/graph/clone.h"

#include <gtest/gtest.h>

#include "host/graph/checks.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::graph::clone_test {
namespace {

using testing::GraphBuilder;

TEST(Clone, CopiesSubgraphsAndSharesConstants) {
  GraphBuilder outer;
  outer.input("cond").constant("w", testing::float_tensor({1, 2}));
  Graph body =
      GraphBuilder().capture("w", outer.value("w")).node("Neg", {"w"}, {"n"}).output("n").build();
  std::vector<std::unique_ptr<Graph>> list;
  list.push_back(std::make_unique<Graph>(Graph{.name = "listed"}));
  Graph graph = outer.node("If", {"cond"}, {"y"})
                    .subgraph("then_branch", std::move(body))
                    .attribute("more", std::move(list))
                    .output("y")
                    .build();
  Graph copy = clone(graph);
  EXPECT_EQ(check_graph(copy).message(), "");
  EXPECT_EQ(copy.initializers[0].data.bytes.data(), graph.initializers[0].data.bytes.data());
  ASSERT_NE(copy.nodes[0].subgraph("then_branch"), nullptr);
  EXPECT_NE(copy.nodes[0].subgraph("then_branch"), graph.nodes[0].subgraph("then_branch"));
  graph = Graph{};
  EXPECT_EQ(copy.nodes[0].subgraph("then_branch")->nodes[0].op_type, "Neg");
}

TEST(Clone, CopiesEveryFieldOfAModel) {
  const Model model{.graph = GraphBuilder().input("x").output("x").build(),
                    .ir_version = 8,
                    .opset_imports = {{"", 17}},
                    .producer_name = "p",
                    .producer_version = "1",
                    .domain = "d",
                    .model_version = 3,
                    .doc = "doc",
                    .metadata = {{"k", "v"}},
                    .symbols = {"batch"},
                    .functions = {{.domain = "f", .name = "g", .serialized = "s"}}};
  const Model copy = clone(model);
  EXPECT_EQ(copy.graph.inputs, model.graph.inputs);
  EXPECT_EQ(copy.ir_version, 8);
  EXPECT_EQ(copy.opset_imports, model.opset_imports);
  EXPECT_EQ(copy.producer_name + copy.producer_version + copy.domain + copy.doc, "p1ddoc");
  EXPECT_EQ(copy.model_version, 3);
  EXPECT_EQ(copy.metadata, model.metadata);
  EXPECT_EQ(copy.symbols, model.symbols);
  ASSERT_EQ(copy.functions.size(), 1u);
  EXPECT_EQ(copy.functions[0].serialized, "s");
}

}  // namespace
}  // namespace ephost::graph::clone_test
