#include "plugins/dnnl/capability/clusters.h"

#include <gtest/gtest.h>

#include <random>

namespace ephost_dnnl::clusters_test {
namespace {

// Whether the graph is acyclic after each cluster is contracted to one node.
bool contracts_without_cycle(const UnitGraph& graph, const std::vector<uint32_t>& clusters) {
  const auto size = static_cast<uint32_t>(clusters.size());
  const auto node = [&](uint32_t unit) {
    return clusters[unit] == kNoCluster ? unit : size + clusters[unit];
  };
  std::vector<std::vector<uint32_t>> after(2 * size);
  std::vector<uint32_t> incoming(2 * size, 0);
  for (const auto& [from, to] : graph.edges) {
    if (node(from) == node(to)) continue;
    after[node(from)].push_back(node(to));
    ++incoming[node(to)];
  }
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < 2 * size; ++i) {
    if (incoming[i] == 0) open.push_back(i);
  }
  std::size_t done = 0;
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    ++done;
    for (const uint32_t next : after[at]) {
      if (--incoming[next] == 0) open.push_back(next);
    }
  }
  return done == 2 * size;
}

// Whether joining any two clusters that an edge connects would close a cycle.
bool is_maximal(const UnitGraph& graph, const std::vector<uint32_t>& clusters) {
  for (const auto& [from, to] : graph.edges) {
    if (clusters[from] == kNoCluster || clusters[to] == kNoCluster) continue;
    if (clusters[from] == clusters[to]) continue;
    std::vector<uint32_t> joined = clusters;
    for (uint32_t& cluster : joined) {
      if (cluster == clusters[to]) cluster = clusters[from];
    }
    if (contracts_without_cycle(graph, joined)) return false;
  }
  return true;
}

TEST(Clusters, CoverAConnectedSupportedGraphWithOneCluster) {
  const UnitGraph graph = {{true, true, true, true}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}};
  EXPECT_EQ(find_clusters(graph), (std::vector<uint32_t>{0, 0, 0, 0}));
}

TEST(Clusters, SplitWhereAPathLeavesAndComesBack) {
  // 0 -> 1 -> 3 and 0 -> 2 -> 3, where 1 can't be taken.
  const UnitGraph graph = {{true, false, true, true}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}};
  const std::vector<uint32_t> clusters = find_clusters(graph);
  EXPECT_EQ(clusters[1], kNoCluster);
  EXPECT_NE(clusters[0], clusters[3]);
  EXPECT_TRUE(contracts_without_cycle(graph, clusters));
}

TEST(Clusters, JoinAcrossASideInputThatComesLate) {
  // 2 reads the supported 0 and the unsupported 1, which depends on nothing: one cluster {0, 2}.
  const UnitGraph graph = {{true, false, true}, {{0, 2}, {1, 2}}};
  EXPECT_EQ(find_clusters(graph), (std::vector<uint32_t>{0, kNoCluster, 0}));
}

TEST(Clusters, StayApartWhereNothingConnectsThem) {
  const UnitGraph graph = {{true, true}, {}};
  EXPECT_EQ(find_clusters(graph), (std::vector<uint32_t>{0, 1}));
}

TEST(Clusters, AvoidCyclesBetweenClusters) {
  // Two chains a0 -> a1, b0 -> b1 that cross through unsupported nodes in both directions.
  const UnitGraph graph = {{true, true, false, false, true, true},
                           {{0, 4}, {1, 5}, {0, 2}, {2, 5}, {1, 3}, {3, 4}}};
  const std::vector<uint32_t> clusters = find_clusters(graph);
  EXPECT_TRUE(contracts_without_cycle(graph, clusters));
  EXPECT_TRUE(is_maximal(graph, clusters));
}

TEST(Clusters, AreConvexAndMaximalInRandomGraphs) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    UnitGraph graph;
    const auto size = static_cast<uint32_t>(2 + random() % 25);
    for (uint32_t i = 0; i < size; ++i) graph.is_supported.push_back(random() % 4 != 0);
    for (uint32_t i = 1; i < size; ++i) {
      for (uint32_t k = 0; k < 1 + random() % 3; ++k) {
        graph.edges.emplace_back(static_cast<uint32_t>(random() % i), i);
      }
    }
    const std::vector<uint32_t> clusters = find_clusters(graph);
    for (uint32_t i = 0; i < size; ++i) {
      ASSERT_EQ(clusters[i] != kNoCluster, graph.is_supported[i]);
    }
    ASSERT_TRUE(contracts_without_cycle(graph, clusters)) << "round " << round;
    ASSERT_TRUE(is_maximal(graph, clusters)) << "round " << round;
  }
}

}  // namespace
}  // namespace ephost_dnnl::clusters_test
