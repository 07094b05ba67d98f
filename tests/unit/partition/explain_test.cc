#include "host/partition/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/partition/fake_source.h"

namespace ephost::partition::explain_test {
namespace {

using graph::testing::GraphBuilder;
using ::testing::ElementsAre;
using testing::FakeSource;
using testing::fused;
using testing::single;

struct Example {
  Graph graph;
  Partitioning partitioning;
};

// Node 0 in partition "acc_0", node 1 by kernel of Cpu, node 2 without a provider; two claims
// refused.
Example example() {
  Example example;
  example.graph = GraphBuilder()
                      .input("x")
                      .node("Conv", {"x"}, {"a"})
                      .node("Relu", {"a"}, {"b"})
                      .node("Custom", {"b"}, {"c"})
                      .output("c")
                      .build();
  example.graph.name = "g";
  example.graph.nodes[2].domain = "com.example";
  FakeSource acc("Acc", {fused({0}), fused({7, 1, 0, 1})});
  acc.short_named("acc");
  FakeSource cpu("Cpu", {single(1), single(2)});
  cpu.without_kernel(2);
  ClaimSource* const asked[] = {&acc, &cpu};
  example.partitioning = *partition_graph(example.graph, asked);
  return example;
}

Explanation explain_example() {
  const Example e = example();
  return explain(e.graph, e.partitioning);
}

TEST(Explain, SaysForEachNodeWhoTookIt) {
  const Explanation explanation = explain_example();
  ASSERT_EQ(explanation.nodes.size(), 3U);
  EXPECT_EQ(explanation.nodes[0].op, "Conv");
  EXPECT_EQ(explanation.nodes[0].provider, "Acc");
  EXPECT_EQ(explanation.nodes[0].partition, "acc_0");
  EXPECT_EQ(explanation.nodes[1].provider, "Cpu");
  EXPECT_EQ(explanation.nodes[1].partition, "");
  EXPECT_EQ(explanation.nodes[2].op, "com.example.Custom");
  EXPECT_EQ(explanation.nodes[2].provider, "");
  EXPECT_EQ(explanation.unassigned_nodes, 1U);
}

TEST(Explain, SummarizesEachProvider) {
  const Explanation explanation = explain_example();
  ASSERT_EQ(explanation.providers.size(), 2U);
  EXPECT_EQ(explanation.providers[0].fused_nodes, 1U);
  EXPECT_EQ(explanation.providers[0].partitions, 1U);
  EXPECT_EQ(explanation.providers[0].refused_claims, 1U);
  EXPECT_EQ(explanation.providers[1].kernel_nodes, 1U);
  EXPECT_EQ(explanation.providers[1].refused_claims, 1U);
}

TEST(Explain, TiesRefusalsToTheValidNodesTheyNamed) {
  const Explanation explanation = explain_example();
  ASSERT_EQ(explanation.refusals.size(), 2U);
  EXPECT_THAT(explanation.refusals[0].nodes, ElementsAre(0U, 1U));
  EXPECT_THAT(explanation.nodes[0].refusals, ElementsAre(0U));
  EXPECT_THAT(explanation.nodes[2].refusals, ElementsAre(1U));
}

}  // namespace
}  // namespace ephost::partition::explain_test
