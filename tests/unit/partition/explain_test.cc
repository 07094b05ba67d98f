#include "host/partition/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/partition/fake_source.h"

namespace ephost::partition {
namespace {

using graph::testing::GraphBuilder;
using ::testing::ElementsAre;
using testing::FakeSource;
using testing::fused;
using ::testing::HasSubstr;
using ::testing::Not;
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

TEST(Explain, PrintsATableWithASummary) {
  EXPECT_EQ(
      to_text(explain_example()),
      "node  name  operator            provider  partition  refused to\n"
      "0     a     Conv                Acc       acc_0      Acc\n"
      "1     b     Relu                Cpu       -          Acc\n"
      "2     c     com.example.Custom  (none)    -          Cpu\n"
      "\n"
      "Acc: 0 nodes by kernel, 1 node in 1 partition, 1 claim refused\n"
      "Cpu: 1 node by kernel, 0 nodes in 0 partitions, 1 claim refused\n"
      "1 node taken by no provider\n"
      "refused: Acc, fused claim of 2 nodes from #0 Conv: node id 7 does not exist, the graph has "
      "3 nodes\n"
      "refused: Cpu, claim of 1 node from #2 com.example.Custom: the provider claims Custom node "
      "\"c\" but has no kernel for Custom (domain com.example, version 1)\n");
}

TEST(Explain, KeepsControlCharactersOffTheTerminal) {
  Example e = example();
  e.graph.nodes[0].name = "evil\x1b[2J";
  e.partitioning.decisions[1].reason = "line\nbreak";
  const std::string text = to_text(explain(e.graph, e.partitioning));
  EXPECT_THAT(text, HasSubstr("evil\\x1b[2J"));
  EXPECT_THAT(text, HasSubstr("line break"));
}

TEST(Explain, CutsLongNamesInTheTableWithoutBreakingACharacter) {
  Example e = example();
  e.graph.nodes[0].name = std::string(59, 'n') + "\u00e9" + "tail";
  const std::string text = to_text(explain(e.graph, e.partitioning));
  EXPECT_THAT(text, HasSubstr(" " + std::string(59, 'n') + "... "));
}

TEST(Explain, DrawsADigraphWithAClusterForEachPartition) {
  const Example e = example();
  const std::string dot = to_dot(e.graph, e.partitioning);
  EXPECT_THAT(dot, HasSubstr("digraph \"g\" {"));
  EXPECT_THAT(dot,
              HasSubstr("  subgraph cluster_0 {\n    label=\"acc_0\";\n    n0 [label=\"Conv a\""));
  EXPECT_THAT(dot, HasSubstr("  n2 [label=\"com.example.Custom c\", fillcolor=\"#e0e0e0\"];"));
  EXPECT_THAT(dot, HasSubstr("p1 [label=\"Cpu\""));
  EXPECT_THAT(dot, HasSubstr("  n0 -> n1;\n  n1 -> n2;\n}"));
}

TEST(Explain, EscapesNamesInTheDigraph) {
  Example e = example();
  e.graph.nodes[1].name = "a\"b\\c\nd";
  EXPECT_THAT(to_dot(e.graph, e.partitioning), HasSubstr("label=\"Relu a\\\"b\\\\c d\""));
}

// A name, a domain and a reason that are not UTF-8, and text with bidirectional controls.
TEST(Explain, WritesUtf8WhateverNamesAre) {
  Example e = example();
  e.graph.nodes[0].name = std::string(59, 'n') + "\xff\xff";
  e.graph.nodes[1].name = "\xc3\u202e";
  e.partitioning.providers[0] = "acc\x80";
  e.partitioning.decisions[1].reason = "\xe9 reason";
  const Explanation explanation = explain(e.graph, e.partitioning);
  for (const std::string& text :
       {to_text(explanation), to_dot(e.graph, e.partitioning), to_html(explanation)}) {
    EXPECT_TRUE(is_valid_utf8(text)) << quote(text);
    EXPECT_THAT(text, Not(HasSubstr("\u202e")));
    EXPECT_THAT(text, HasSubstr("acc\ufffd"));
  }
}

TEST(Explain, WritesAPageWithoutExternalResources) {
  const std::string html = to_html(explain_example());
  EXPECT_THAT(html, HasSubstr("<title>Partitioning of g</title>"));
  EXPECT_THAT(html, HasSubstr("<td>com.example.Custom</td>"));
  EXPECT_THAT(html, HasSubstr("Acc: node id 7 does not exist"));
  EXPECT_THAT(html, HasSubstr("1 node taken by no provider"));
  for (const char* reference : {"http", "src=", "href=", "url(", "@import", "<script"}) {
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  }
}

TEST(Explain, EscapesNamesInThePage) {
  Example e = example();
  e.graph.name = "<script>alert('x')</script>";
  e.graph.nodes[0].name = "a<b>&\"c\"";
  e.partitioning.providers[0] = "\"><img>";
  const std::string html = to_html(explain(e.graph, e.partitioning));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
  EXPECT_THAT(html, HasSubstr("a&lt;b&gt;&amp;&quot;c&quot;"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
}

TEST(Explain, ShowsAFewRefusalsOfANodeAndCountsTheRest) {
  Example e = example();
  const Decision refusal = e.partitioning.decisions.back();
  for (int i = 0; i < 9; ++i) e.partitioning.decisions.push_back(refusal);
  const Explanation explanation = explain(e.graph, e.partitioning);
  EXPECT_THAT(to_html(explanation), HasSubstr("and 5 more"));
  EXPECT_THAT(to_text(explanation), HasSubstr("Cpu +9\n"));
}

}  // namespace
}  // namespace ephost::partition
