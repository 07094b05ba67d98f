#include "host/partition/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/partition/fake_source.h"

namespace ephost::partition::partition_test {
namespace {

using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::value_names;
using test::IsOk;
using ::testing::ElementsAre;
using testing::FakeSource;
using testing::fused;
using ::testing::HasSubstr;
using testing::single;

// 0: a = Relu(x), 1: b = Relu(a), 2: c = Relu(b), 3: d = Relu(c)
Graph chain() {
  return GraphBuilder()
      .input("x")
      .node("Relu", {"x"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("Relu", {"b"}, {"c"})
      .node("Relu", {"c"}, {"d"})
      .output("d")
      .build();
}

Partitioning run(const Graph& graph, std::vector<FakeSource*> sources,
                 const PartitionOptions& options = {}) {
  std::vector<ClaimSource*> asked(sources.begin(), sources.end());
  Result<Partitioning> result = partition_graph(graph, asked, options);
  EXPECT_THAT(result, IsOk());
  return result.ok() ? *std::move(result) : Partitioning();
}

TEST(Partition, GivesANodeToTheFirstProviderThatClaimsIt) {
  FakeSource first("First", {single(1)});
  FakeSource second("Second", {single(0), single(1)});
  const Partitioning result = run(chain(), {&first, &second});
  EXPECT_THAT(result.owner, ElementsAre(1U, 0U, kUnassigned, kUnassigned));
  EXPECT_THAT(result.providers, ElementsAre("First", "Second"));
  ASSERT_EQ(result.decisions.size(), 3U);
  EXPECT_TRUE(result.decisions[1].accepted);
  EXPECT_FALSE(result.decisions[2].accepted);
  EXPECT_EQ(result.decisions[2].reason, "Relu node \"b\" is already taken by First");
}

TEST(Partition, RefusesTheClaimsOfABarredProviderAndKeepsTheOtherNames) {
  FakeSource first("First", {fused({0}), fused({1, 2}), single(2), fused({3})});
  FakeSource second("Second", {fused({1, 2})});
  const std::vector<Exclusion> exclusions = {
      {.provider = 0, .nodes = {2, 77}, .reason = "it broke"}};
  const Partitioning result = run(chain(), {&first, &second}, {.exclusions = exclusions});
  EXPECT_THAT(result.owner, ElementsAre(0U, 1U, 1U, 0U));
  for (const size_t barred : {1U, 2U}) {
    EXPECT_FALSE(result.decisions[barred].accepted);
    EXPECT_EQ(result.decisions[barred].reason,
              "Relu node \"c\" is not offered to this provider again: it broke");
  }
  ASSERT_EQ(result.partitions.size(), 3U);
  EXPECT_EQ(result.partitions[0].name, "First_0");
  EXPECT_EQ(result.partitions[1].name, "First_2");
  EXPECT_EQ(result.partitions[2].name, "Second_0");
}

TEST(Partition, ShowsEachProviderWhatIsTaken) {
  FakeSource first("First", {fused({1, 2})});
  FakeSource second("Second", {});
  static_cast<void>(run(chain(), {&first, &second}));
  EXPECT_THAT(first.seen_owner(), ElementsAre(kUnassigned, kUnassigned, kUnassigned, kUnassigned));
  EXPECT_THAT(second.seen_owner(), ElementsAre(kUnassigned, 0U, 0U, kUnassigned));
}

TEST(Partition, RefusesASingleNodeWithoutKernel) {
  FakeSource source("Some", {single(2)});
  source.without_kernel(2);
  const Partitioning result = run(chain(), {&source});
  EXPECT_EQ(result.owner[2], kUnassigned);
  EXPECT_EQ(result.decisions[0].reason,
            "the provider claims Relu node \"c\" but has no kernel for Relu (domain ai.onnx, "
            "version 1)");
}

TEST(Partition, RefusesANodeThatTheSameProviderTookBefore) {
  FakeSource source("Some", {single(2), fused({2, 3})});
  const Partitioning result = run(chain(), {&source});
  EXPECT_EQ(result.owner[3], kUnassigned) << "the whole claim is dropped";
  EXPECT_EQ(result.decisions[1].reason,
            "Relu node \"c\" is already taken by an earlier claim of the same provider");
}

TEST(Partition, RefusesAnEmptyClaim) {
  FakeSource source("Some", {fused({})});
  EXPECT_EQ(run(chain(), {&source}).decisions[0].reason, "the claim does not name a node");
}

TEST(Partition, RefusesTwoNodesThatAreNotFused) {
  FakeSource source("Some", {{.nodes = {0, 1}}});
  EXPECT_EQ(run(chain(), {&source}).decisions[0].reason,
            "a claim that is not fused must name exactly one node, but this one names 2");
}

TEST(Partition, RefusesANodeThatDoesNotExist) {
  FakeSource source("Some", {fused({0, 4})});
  const Partitioning result = run(chain(), {&source});
  EXPECT_EQ(result.decisions[0].reason, "node id 4 does not exist, the graph has 4 nodes");
  EXPECT_EQ(result.owner[0], kUnassigned);
}

TEST(Partition, RefusesANodeThatStandsTwiceInAClaim) {
  FakeSource source("Some", {fused({0, 1, 0})});
  EXPECT_EQ(run(chain(), {&source}).decisions[0].reason,
            "Relu node \"a\" occurs twice in the claim");
}

TEST(Partition, DropsAClaimThatMakesACycleAndNamesThePath) {
  FakeSource first("First", {fused({0, 2}), fused({2, 3})});
  FakeSource second("Second", {single(0)});
  const Partitioning result = run(chain(), {&first, &second});
  EXPECT_THAT(result.owner, ElementsAre(1U, kUnassigned, 0U, 0U));
  EXPECT_EQ(result.decisions[0].reason,
            "fusing these nodes would make a cycle: Relu node \"a\" -> Relu node \"b\" -> Relu "
            "node \"c\"; the claim contains both ends of this path but not the nodes between them");
}

TEST(Partition, ShortensALongPath) {
  GraphBuilder builder;
  builder.input("v0");
  for (int i = 0; i < 12; ++i) {
    builder.node("Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  }
  FakeSource source("Some", {fused({0, 11})});
  EXPECT_THAT(run(builder.output("v12").build(), {&source}).decisions[0].reason,
              HasSubstr("\"v1\" -> Relu node \"v2\" -> Relu node \"v3\" -> (6 more) -> Relu node "
                        "\"v10\" -> Relu node \"v11\" -> Relu node \"v12\";"));
}

// a1 feeds b1 and b2 feeds a2: {a1, a2} and {b1, b2} are convex, but not both.
TEST(Partition, RefusesTheSecondOfTwoConvexSetsThatDependOnEachOther) {
  const Graph graph = GraphBuilder()
                          .input("x")
                          .node("A", {"x"}, {"a1"})
                          .node("B", {"x"}, {"b2"})
                          .node("B", {"a1"}, {"b1"})
                          .node("A", {"b2"}, {"a2"})
                          .output("a2")
                          .output("b1")
                          .build();
  FakeSource a("ProviderA", {fused({0, 3}, "part_a")});
  FakeSource b("ProviderB", {fused({1, 2})});
  const Partitioning result = run(graph, {&a, &b});
  EXPECT_THAT(result.owner, ElementsAre(0U, kUnassigned, kUnassigned, 0U));
  EXPECT_THAT(result.decisions[1].reason,
              HasSubstr("B node \"b2\" -> partition \"part_a\" of ProviderA -> B node \"b1\""));
  FakeSource b_alone("ProviderB", {fused({1, 2})});
  EXPECT_TRUE(run(graph, {&b_alone}).decisions[0].accepted);
}

TEST(Partition, CountsWhatASubgraphReads) {
  GraphBuilder builder;
  builder.input("x").node("Relu", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  const graph::ValueId b = builder.value("b");
  const Graph graph = builder.node("If", {"x"}, {"c"})
                          .subgraph("then_branch", GraphBuilder()
                                                       .capture("b", b)
                                                       .node("Identity", {"b"}, {"inner"})
                                                       .output("inner")
                                                       .build())
                          .output("c")
                          .build();
  FakeSource cyclic("Some", {fused({0, 2})});
  EXPECT_FALSE(run(graph, {&cyclic}).decisions[0].accepted);
  FakeSource fine("Some", {fused({2})});
  EXPECT_THAT(value_names(graph, run(graph, {&fine}).partitions[0].inputs), ElementsAre("x", "b"));
  FakeSource producer("Some", {fused({0, 1})});
  EXPECT_THAT(value_names(graph, run(graph, {&producer}).partitions[0].outputs), ElementsAre("b"));
}

TEST(Partition, SkipsAProviderWhoseCapabilityFails) {
  FakeSource broken("Broken", {single(0)});
  broken.failing({StatusCode::kEpFail, "no device"});
  FakeSource other("Other", {single(0)});
  const Partitioning result = run(chain(), {&broken, &other});
  EXPECT_EQ(result.owner[0], 1U);
  ASSERT_EQ(result.decisions.size(), 2U);
  EXPECT_FALSE(result.decisions[0].accepted);
  EXPECT_TRUE(result.decisions[0].nodes.empty());
  EXPECT_EQ(result.decisions[0].reason,
            "the provider was skipped, because querying its capability failed: EP_FAIL: no device");
}

TEST(Partition, FindsInputsOutputsAndConstantsOfAPartition) {
  const Graph graph = GraphBuilder()
                          .input("x")
                          .input("default")
                          .constant("default", float_tensor({1}))
                          .constant("w", float_tensor({2}))
                          .node("Relu", {"x"}, {"before"})
                          .node("Add", {"w", "before"}, {"a"})
                          .node("Clip", {"a", "", "default"}, {"b", "unread"})
                          .node("Add", {"b", "x"}, {"c"})
                          .node("Add", {"w", "before"}, {"d"})
                          .node("Relu", {"c"}, {"after"})
                          .output("after")
                          .output("a")
                          .output("d")
                          .build();
  FakeSource source("Some",
                    {{.nodes = {3, 1, 2, 4}, .fused = true, .drop_constants = true, .token = 9}});
  const Partitioning result = run(graph, {&source});
  ASSERT_EQ(result.partitions.size(), 1U);
  const Partition& partition = result.partitions[0];
  EXPECT_THAT(partition.nodes, ElementsAre(1U, 2U, 3U, 4U));
  EXPECT_THAT(value_names(graph, partition.inputs), ElementsAre("before", "default", "x"));
  EXPECT_THAT(value_names(graph, partition.outputs), ElementsAre("a", "c", "d"));
  EXPECT_THAT(value_names(graph, partition.constants), ElementsAre("w"));
  EXPECT_TRUE(partition.drop_constants);
  EXPECT_EQ(partition.token, 9U);
  EXPECT_EQ(result.decisions[0].partition, 0U);
  EXPECT_THAT(result.partition_of, ElementsAre(kNoPartition, 0U, 0U, 0U, 0U, kNoPartition));
}

std::vector<std::string> names(const Partitioning& partitioning) {
  std::vector<std::string> all;
  for (const Partition& partition : partitioning.partitions) all.push_back(partition.name);
  return all;
}

TEST(Partition, NamesPartitionsUniquely) {
  FakeSource source("SomeExecutionProvider",
                    {fused({0}), fused({1}, "head"), fused({2}, "head"), fused({3}, "bad\nname")});
  source.short_named("some");
  EXPECT_THAT(names(run(chain(), {&source})), ElementsAre("some_0", "head", "head_2", "some_1"));
}

TEST(Partition, PrefixesNamesAndAvoidsTakenOnes) {
  FakeSource source("some", {fused({0}), fused({1}, "head")});
  const std::vector<std::string> taken = {"p_some_0", "p_head"};
  EXPECT_THAT(names(run(chain(), {&source}, {.name_prefix = "p_", .taken_names = taken})),
              ElementsAre("p_some_1", "p_head_2"));
}

TEST(Partition, RefusesAGraphThatIsNotSorted) {
  const Graph graph = GraphBuilder()
                          .input("x")
                          .node("Relu", {"late"}, {"early"})
                          .node("Relu", {"x"}, {"late"})
                          .output("early")
                          .build();
  const auto result = partition_graph(graph, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(result.status().message(),
              HasSubstr("Relu node \"early\" reads the output of a later node; sort the graph"));
}

TEST(Partition, CoverIsCompleteWhenEveryNodeHasAnOwner) {
  const Graph graph = chain();
  FakeSource source = FakeSource::greedy("All");
  EXPECT_THAT(check_cover(graph, run(graph, {&source})), IsOk());
}

TEST(Partition, CoverNamesTheFirstNodesWithoutOwnerAndTheProvidersAsked) {
  GraphBuilder builder;
  builder.input("x");
  for (const char* name : {"a", "b", "c", "d", "e"}) builder.node("Foo", {"x"}, {name});
  Graph graph = builder.output("a").build();
  graph.nodes[1].domain = "com.example";
  graph.nodes[1].since_version = 3;
  FakeSource first("First", {});
  FakeSource second("Second", {single(0)});
  const Status status = check_cover(graph, run(graph, {&first, &second}));
  EXPECT_EQ(status.code(), StatusCode::kNotImplemented);
  EXPECT_THAT(
      status.message(),
      HasSubstr("no provider takes Foo (domain com.example, version 3) of Foo node \"b\"; "
                "Foo (domain ai.onnx, version 1) of Foo node \"c\"; Foo (domain ai.onnx, "
                "version 1) of Foo node \"d\"; and 1 more; providers asked: First, Second"));
}

TEST(Partition, CoverSaysWhenNoProviderWasAsked) {
  const Graph graph = chain();
  EXPECT_THAT(check_cover(graph, run(graph, {})).message(), HasSubstr("providers asked: none;"));
}

TEST(Partition, TakesAGraphWithoutNodes) {
  const Graph graph = GraphBuilder().input("x").output("x").build();
  FakeSource source = FakeSource::greedy("All");
  EXPECT_THAT(check_cover(graph, run(graph, {&source})), IsOk());
}

TEST(Partition, EndsWhenItIsCancelled) {
  FakeSource source("First", {single(0)});
  std::vector<ClaimSource*> asked = {&source};
  const std::atomic<bool> cancelled = true;
  const auto result = partition_graph(chain(), asked, {.cancellation = Cancellation(&cancelled)});
  EXPECT_EQ(result.status().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace ephost::partition::partition_test
