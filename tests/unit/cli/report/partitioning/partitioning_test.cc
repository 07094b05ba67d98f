#include "host/cli/report/partitioning/partitioning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "host/base/text.h"
#include "host/cli/report/partitioning/partitioning_groups.h"

namespace ephost::cli::partitioning_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// Node 0 in partition "acc_0", node 1 by a kernel of Cpu, node 2 without a provider; two claims
// were refused.
GraphPartitioning example() {
  GraphPartitioning graph{.name = "g"};
  graph.providers = {{.provider = "Acc", .fused_nodes = 1, .partitions = 1, .refused_claims = 1},
                     {.provider = "Cpu", .kernel_nodes = 1, .refused_claims = 1}};
  graph.nodes = {{.id = 0,
                  .name = "a",
                  .op = "Conv",
                  .since_version = 11,
                  .description = "Conv node \"a\"",
                  .provider = "Acc",
                  .partition = "acc_0",
                  .refusals = {0},
                  .successors = {1}},
                 {.id = 1,
                  .name = "b",
                  .op = "Relu",
                  .since_version = 14,
                  .description = "Relu node \"b\"",
                  .provider = "Cpu",
                  .refusals = {0},
                  .successors = {2}},
                 {.id = 2,
                  .name = "c",
                  .op = "com.example.Custom",
                  .since_version = 1,
                  .description = "Custom node \"c\"",
                  .refusals = {1}}};
  graph.partitions = {{.name = "acc_0", .provider = "Acc", .nodes = {0}}};
  graph.refused_claims = {
      {.provider = "Acc", .nodes = {0, 1}, .fused = true, .reason = "node id 7 does not exist"},
      {.provider = "Cpu", .nodes = {2}, .reason = "there is no kernel"}};
  graph.unassigned_nodes = 1;
  return graph;
}

std::string page(const GraphPartitioning& graph) { return partitioning_page({&graph, 1}); }

TEST(Partitioning, PrintsATableWithASummary) {
  EXPECT_EQ(explanation_text(example()),
            "node  name  operator            provider  partition  refused to\n"
            "0     a     Conv                Acc       acc_0      Acc\n"
            "1     b     Relu                Cpu       -          Acc\n"
            "2     c     com.example.Custom  (none)    -          Cpu\n"
            "\n"
            "Acc: 0 nodes by kernel, 1 node in 1 partition, 1 claim refused\n"
            "Cpu: 1 node by kernel, 0 nodes in 0 partitions, 1 claim refused\n"
            "1 node taken by no provider\n"
            "refused: Acc, fused claim of 2 nodes from #0 Conv: node id 7 does not exist\n"
            "refused: Cpu, claim of 1 node from #2 com.example.Custom: there is no kernel\n");
}

TEST(Partitioning, PrintsWhyAProviderDeclinedANode) {
  GraphPartitioning graph = example();
  graph.declined_nodes = {{.provider = "Acc", .node = 2, .reason = "no such\x1b operator"}};
  EXPECT_THAT(explanation_text(graph),
              HasSubstr("declined: Acc, #2 Custom node \"c\": no such\\x1b operator\n"));
}

TEST(Partitioning, KeepsControlCharactersOffTheTerminal) {
  GraphPartitioning graph = example();
  graph.nodes[0].name = "evil\x1b[2J";
  graph.refused_claims[1].reason = "line\nbreak";
  const std::string text = explanation_text(graph);
  EXPECT_THAT(text, HasSubstr("evil\\x1b[2J"));
  EXPECT_THAT(text, HasSubstr("line break"));
}

TEST(Partitioning, CutsLongNamesInTheTableWithoutBreakingACharacter) {
  GraphPartitioning graph = example();
  graph.nodes[0].name = std::string(59, 'n') + "\u00e9" + "tail";
  EXPECT_THAT(explanation_text(graph), HasSubstr(" " + std::string(59, 'n') + "... "));
}

TEST(Partitioning, DrawsADigraphWithAClusterForEachPartition) {
  const std::string dot = to_dot(example());
  EXPECT_THAT(dot, HasSubstr("digraph \"g\" {"));
  EXPECT_THAT(dot,
              HasSubstr("  subgraph cluster_0 {\n    label=\"acc_0\";\n    n0 [label=\"Conv a\""));
  EXPECT_THAT(dot, HasSubstr("  n2 [label=\"com.example.Custom c\", fillcolor=\"#e0e0e0\"];"));
  EXPECT_THAT(dot, HasSubstr("p1 [label=\"Cpu\""));
  EXPECT_THAT(dot, HasSubstr("  n0 -> n1;\n  n1 -> n2;\n}"));
}

TEST(Partitioning, NamesTheDigraphOfABodyByItsPath) {
  GraphPartitioning graph = example();
  graph.path = "loop/body";
  EXPECT_THAT(to_dot(graph), HasSubstr("digraph \"loop/body\" {"));
}

TEST(Partitioning, EscapesNamesInTheDigraph) {
  GraphPartitioning graph = example();
  graph.nodes[1].name = "a\"b\\c\nd";
  EXPECT_THAT(to_dot(graph), HasSubstr("label=\"Relu a\\\"b\\\\c d\""));
}

// A name, a domain and a reason that are not UTF-8, and a control of text direction.
TEST(Partitioning, WritesUtf8WhateverNamesAre) {
  GraphPartitioning graph = example();
  graph.nodes[0].name = std::string(59, 'n') + "\xff\xff";
  graph.nodes[1].name = "\xc3\u202e";
  graph.providers[0].provider = graph.nodes[0].provider = "acc\x80";
  graph.refused_claims[1].reason = "\xe9 reason";
  for (const std::string& text : {explanation_text(graph), to_dot(graph), page(graph)}) {
    EXPECT_TRUE(is_valid_utf8(text)) << quote(text);
    EXPECT_THAT(text, Not(HasSubstr("\u202e")));
    EXPECT_THAT(text, HasSubstr("acc\ufffd"));
  }
}

TEST(Partitioning, WritesAPageWithoutExternalResources) {
  const std::string html = page(example());
  EXPECT_THAT(html, HasSubstr("<title>Partitioning of g</title>"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, HasSubstr("com.example.Custom"));
  EXPECT_THAT(html, HasSubstr("node id 7 does not exist"));
  for (const char* reference : {"http:", "https:", "src=", "href=", "url(", "@import"}) {
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  }
}

GraphPartitioning declined(const std::string& before, const std::string& after) {
  GraphPartitioning graph = example();
  for (int i = 0; i < 1000; ++i) {
    graph.declined_nodes.push_back(
        {.provider = "Acc", .node = 2, .reason = before + std::to_string(i) + after});
  }
  return graph;
}

TEST(Partitioning, SaysHowManyReasonsThePageHas) {
  EXPECT_THAT(page(declined("reason ", "")), HasSubstr("\"reason_count\":1002"));
  EXPECT_THAT(page(example()), HasSubstr("\"reason_count\":2"));
}

TEST(Partitioning, LeavesNamesOutOfManyReasonsThatDifferInNothingElse) {
  const std::string html = page(declined("dynamic shape of \"v", "\""));
  EXPECT_THAT(html, HasSubstr("\"reason_count\":3"));
  EXPECT_THAT(html, HasSubstr("dynamic shape of \\\"\u2026\\\""));
  EXPECT_THAT(page(declined("it isn't wanted by 'v", "' and 'w'")),
              HasSubstr("it isn't wanted by '\u2026' and '\u2026'"));
}

TEST(Partitioning, EscapesNamesInThePage) {
  GraphPartitioning graph = example();
  graph.name = "<script>alert('x')</script>";
  graph.nodes[0].name = "</script><img><!--";
  graph.providers[0].provider = graph.nodes[0].provider = "\"><img>";
  const std::string html = page(graph);
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
  EXPECT_THAT(html, HasSubstr("\\u003c/script>\\u003cimg>\\u003c!--"));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("<!--")));
}

TEST(Partitioning, ShowsTheFirstRefusalOfANodeAndCountsTheRest) {
  GraphPartitioning graph = example();
  for (uint32_t i = 2; i < 11; ++i) {
    graph.refused_claims.push_back(graph.refused_claims[1]);
    graph.nodes[2].refusals.push_back(i);
  }
  EXPECT_THAT(explanation_text(graph), HasSubstr("Cpu +9\n"));
}

// Acc takes 0 and 1 as a partition and 4 by a kernel, Cpu takes 2, 3 and 5: 2 beside the partition,
// 3 behind it, 5 behind 4.
GraphPartitioning grouped() {
  GraphPartitioning graph;
  const auto add = [&](const char* provider, const char* partition,
                       std::vector<uint32_t> successors) {
    graph.nodes.push_back({.id = static_cast<uint32_t>(graph.nodes.size()),
                           .op = "Op",
                           .provider = provider,
                           .partition = partition,
                           .successors = std::move(successors)});
  };
  add("Acc", "p", {1});
  add("Acc", "p", {3});
  add("Cpu", "", {3});
  add("Cpu", "", {4});
  add("Acc", "", {5});
  add("Cpu", "", {});
  return graph;
}

TEST(PartitioningGroups, AreThePartitionsAndTheKernelsBetweenThem) {
  const NodeGroups groups = group_nodes(grouped());
  EXPECT_THAT(groups.of_node, ElementsAre(0, 0, 1, 2, 3, 4));
  EXPECT_EQ(groups.groups[0].partition, "p");
  EXPECT_EQ(groups.groups[2].provider, "Cpu");
  EXPECT_THAT(groups.edges, ElementsAre(Pair(Pair(0, 2), 1), Pair(Pair(1, 2), 1),
                                        Pair(Pair(2, 3), 1), Pair(Pair(3, 4), 1)));
}

TEST(PartitioningGroups, JoinKernelsThatNothingSeparates) {
  GraphPartitioning graph = grouped();
  for (PartitionedNode& node : graph.nodes) {
    node.provider = "Cpu";
    node.partition.clear();
  }
  const NodeGroups groups = group_nodes(graph);
  EXPECT_EQ(groups.groups.size(), 1U);
  EXPECT_TRUE(groups.edges.empty());
}

}  // namespace
}  // namespace ephost::cli::partitioning_test
