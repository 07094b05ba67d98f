// Partitions random graphs with random claims and verifies every decision by brute force.

#include <gtest/gtest.h>

#include <algorithm>
#include <queue>
#include <set>

#include "host/partition/partition.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/partition/fake_source.h"
#include "tests/unit/partition/random_graph.h"

namespace ephost::partition::partition_random_test {
namespace {

using graph::testing::below;
using graph::testing::chance;
using graph::testing::Random;
using graph::testing::random_graph;
using test::IsOk;
using testing::FakeSource;

// Reads producers from the nodes' own lists.
std::set<std::pair<NodeId, NodeId>> edges_of(const Graph& graph) {
  std::vector<NodeId> producer(graph.values.size(), graph::kNoNode);
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    for (const ValueId id : graph.nodes[node].outputs) {
      if (id != graph::kNoValue) producer[id] = node;
    }
  }
  std::set<std::pair<NodeId, NodeId>> edges;
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    for (const auto* list : {&graph.nodes[node].inputs, &graph.nodes[node].implicit_inputs}) {
      for (const ValueId id : *list) {
        if (id != graph::kNoValue && producer[id] != graph::kNoNode) {
          edges.emplace(producer[id], node);
        }
      }
    }
  }
  return edges;
}

// Kahn's algorithm on the graph in which nodes with equal labels are merged.
bool is_acyclic(const Graph& graph, const std::vector<uint64_t>& label) {
  std::map<uint64_t, std::set<uint64_t>> after;
  std::map<uint64_t, size_t> waits;
  for (const uint64_t l : label) waits[l] = 0;
  for (const auto& [from, to] : edges_of(graph)) {
    if (label[from] != label[to] && after[label[from]].insert(label[to]).second) {
      ++waits[label[to]];
    }
  }
  std::queue<uint64_t> ready;
  for (const auto& [vertex, count] : waits) {
    if (count == 0) ready.push(vertex);
  }
  size_t done = 0;
  for (; !ready.empty(); ready.pop(), ++done) {
    for (const uint64_t next : after[ready.front()]) {
      if (--waits[next] == 0) ready.push(next);
    }
  }
  return done == waits.size();
}

std::vector<NodeId> random_nodes(Random& random, size_t nodes) {
  std::set<NodeId> chosen;
  const uint64_t start = below(random, nodes);
  const uint64_t count = 1 + below(random, 5);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t node = chance(random, 80) ? start + below(random, 6) : below(random, nodes);
    chosen.insert(static_cast<NodeId>(std::min<uint64_t>(node, nodes - 1)));
  }
  std::vector<NodeId> list(chosen.begin(), chosen.end());
  std::shuffle(list.begin(), list.end(), random);
  return list;
}

std::vector<Claim> random_claims(Random& random, const Graph& graph) {
  std::vector<Claim> claims(below(random, 12));
  for (Claim& claim : claims) {
    claim.nodes = random_nodes(random, graph.nodes.size());
    claim.fused = chance(random, 75);
    if (!claim.fused) claim.nodes.resize(1);
    if (chance(random, 3)) claim.nodes.push_back(claim.nodes.front());
    if (chance(random, 3)) claim.nodes.push_back(static_cast<NodeId>(graph.nodes.size()));
  }
  return claims;
}

// Replays the rules; for each claim, tests the whole contracted graph for cycles.
class Replay {
 public:
  Replay(const Graph& graph, std::vector<FakeSource>& sources) : graph_(graph), sources_(sources) {
    owner.assign(graph.nodes.size(), kUnassigned);
    for (uint64_t i = 0; i < graph.nodes.size(); ++i) label_.push_back(i);
  }

  bool accepts(uint32_t provider, const Claim& claim) {
    std::set<NodeId> nodes(claim.nodes.begin(), claim.nodes.end());
    if (nodes.size() != claim.nodes.size() || *nodes.rbegin() >= graph_.nodes.size()) return false;
    if (!claim.fused && nodes.size() != 1) return false;
    for (const NodeId node : nodes) {
      if (owner[node] != kUnassigned) return false;
    }
    if (!claim.fused && !sources_[provider].has_kernel(graph_, *nodes.begin())) return false;
    std::vector<uint64_t> label = label_;
    for (const NodeId node : nodes) label[node] = graph_.nodes.size() + fused_;
    if (claim.fused && !is_acyclic(graph_, label)) return false;
    if (claim.fused) {
      label_ = label;
      ++fused_;
    }
    for (const NodeId node : nodes) owner[node] = provider;
    return true;
  }

  [[nodiscard]] bool is_acyclic_now() const { return is_acyclic(graph_, label_); }
  std::vector<uint32_t> owner;

 private:
  const Graph& graph_;
  std::vector<FakeSource>& sources_;
  std::vector<uint64_t> label_;
  uint64_t fused_ = 0;
};

void check_boundary(const Graph& graph, const Partitioning& result, uint32_t index) {
  const Partition& partition = result.partitions[index];
  std::set<ValueId> inputs;
  std::set<ValueId> constants;
  std::set<ValueId> outputs;
  const auto inside = [&](NodeId node) { return std::ranges::count(partition.nodes, node) > 0; };
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    EXPECT_EQ(inside(node), result.partition_of[node] == index);
    for (const auto* list : {&graph.nodes[node].inputs, &graph.nodes[node].implicit_inputs}) {
      for (const ValueId id : *list) {
        if (id == graph::kNoValue) continue;
        const graph::Value& value = graph.values[id];
        const bool made_inside = value.producer != graph::kNoNode && inside(value.producer);
        if (inside(node) && value.is_constant()) constants.insert(id);
        if (inside(node) && !value.is_constant() && !made_inside) inputs.insert(id);
        if (!inside(node) && made_inside) outputs.insert(id);
      }
    }
  }
  for (const ValueId id : graph.outputs) {
    if (graph.values[id].producer != graph::kNoNode && inside(graph.values[id].producer)) {
      outputs.insert(id);
    }
  }
  const auto is_exactly = [](const std::vector<ValueId>& list, const std::set<ValueId>& expected) {
    return list.size() == expected.size() && std::set(list.begin(), list.end()) == expected;
  };
  EXPECT_TRUE(is_exactly(partition.inputs, inputs));
  EXPECT_TRUE(is_exactly(partition.outputs, outputs));
  EXPECT_TRUE(is_exactly(partition.constants, constants));
  EXPECT_TRUE(std::ranges::is_sorted(partition.nodes));
}

struct ClaimTally {
  size_t fused = 0;
  size_t cycles = 0;
};

void check_one(uint64_t seed, ClaimTally& tally) {
  Random random(seed);
  const Graph graph = random_graph(random, {.nodes = static_cast<uint32_t>(1 + below(random, 30)),
                                            .subgraph_percent = seed % 2 == 0 ? 5U : 60U});
  std::vector<FakeSource> sources;
  std::vector<std::vector<Claim>> claims;
  for (uint64_t i = 0, count = 1 + below(random, 3); i < count; ++i) {
    claims.push_back(random_claims(random, graph));
    sources.emplace_back("provider" + std::to_string(i), claims.back());
    sources.back().without_kernel(static_cast<NodeId>(below(random, graph.nodes.size())));
  }
  std::vector<ClaimSource*> asked;
  for (FakeSource& source : sources) asked.push_back(&source);
  const auto result = partition_graph(graph, asked);
  ASSERT_THAT(result, IsOk());

  Replay replay(graph, sources);
  size_t next = 0;
  for (uint32_t provider = 0; provider < sources.size(); ++provider) {
    for (const Claim& claim : claims[provider]) {
      const Decision& decision = result->decisions[next++];
      ASSERT_EQ(decision.accepted, replay.accepts(provider, claim)) << decision.reason;
      EXPECT_EQ(decision.accepted, decision.reason.empty());
      EXPECT_EQ(decision.nodes, claim.nodes);
      EXPECT_EQ(decision.provider, provider);
      tally.fused += decision.accepted && decision.fused && decision.nodes.size() > 1 ? 1 : 0;
      tally.cycles += decision.reason.find("cycle") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_EQ(next, result->decisions.size());
  EXPECT_EQ(result->owner, replay.owner);
  EXPECT_TRUE(replay.is_acyclic_now());
  for (uint32_t i = 0; i < result->partitions.size(); ++i) check_boundary(graph, *result, i);
}

TEST(PartitionRandom, AgreesWithBruteForceOnEveryClaim) {
  ClaimTally tally;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    check_one(seed, tally);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(tally.fused, 3000U);
  EXPECT_GT(tally.cycles, 1000U);
}

TEST(PartitionRandom, GivesTheSameAnswerTwice) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<Partitioning> results;
    for (int repeat = 0; repeat < 2; ++repeat) {
      Random random(seed);
      const Graph graph = random_graph(random, {.nodes = 40});
      FakeSource source("provider", random_claims(random, graph));
      ClaimSource* const asked[] = {&source};
      results.push_back(*partition_graph(graph, asked));
    }
    EXPECT_EQ(results[0].owner, results[1].owner);
    EXPECT_EQ(results[0].partition_of, results[1].partition_of);
    for (size_t i = 0; i < results[0].decisions.size(); ++i) {
      EXPECT_EQ(results[0].decisions[i].reason, results[1].decisions[i].reason);
    }
  }
}

// `lanes` parallel chains, numbered level by level, so that the nodes of each chain are far apart.
Graph ladder(uint32_t lanes, uint32_t levels) {
  Graph graph;
  std::vector<ValueId> last;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    last.push_back(graph.add_value({.name = "in" + std::to_string(lane)}));
    graph.inputs.push_back(last.back());
  }
  for (uint32_t level = 0; level < levels; ++level) {
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const ValueId out = graph.add_value({.name = std::to_string(graph.values.size())});
      graph.add_node({.op_type = "Relu", .inputs = {last[lane]}, .outputs = {out}});
      last[lane] = out;
    }
  }
  graph.outputs = last;
  graph::connect(graph);
  return graph;
}

// Each of these takes seconds to minutes if every claim walks the whole graph.
TEST(PartitionRandom, TakesTenThousandClaimsOnAHundredThousandNodesInAChain) {
  const Graph graph = ladder(1, 100'000);
  std::vector<Claim> claims;
  for (NodeId node = 0; node < 100'000; node += 10) {
    claims.push_back(testing::fused({node, node + 1, node + 2, node + 3, node + 4}));
    claims.push_back(testing::fused({node + 5, node + 7}));  // not convex
  }
  FakeSource source("provider", claims);
  ClaimSource* const asked[] = {&source};
  const auto result = partition_graph(graph, asked);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->partitions.size(), 10'000U);
}

TEST(PartitionRandom, TakesTenThousandClaimsThatEachSpanTheWholeGraph) {
  const Graph graph = ladder(10'000, 10);
  std::vector<Claim> claims;
  for (NodeId lane = 0; lane < 10'000; ++lane) {
    std::vector<NodeId> nodes;
    for (NodeId level = 0; level < 10; ++level) nodes.push_back(level * 10'000 + lane);
    claims.push_back(testing::fused(nodes));
  }
  FakeSource source("provider", claims);
  ClaimSource* const asked[] = {&source};
  const auto result = partition_graph(graph, asked);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->partitions.size(), 10'000U);
}

}  // namespace
}  // namespace ephost::partition::partition_random_test
