#include "host/cli/report/partitioning/partitioning_groups.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace ephost::cli {
namespace {

// How often the owner changes on the way from the graph's inputs to each node, at most.
std::vector<uint32_t> levels_of(const GraphPartitioning& graph) {
  std::vector<uint32_t> levels(graph.nodes.size(), 0);
  for (const PartitionedNode& node : graph.nodes) {  // in topological order
    for (const uint32_t next : node.successors) {
      const PartitionedNode& other = graph.nodes[next];
      const bool changes = node.provider != other.provider || node.partition != other.partition;
      levels[next] = std::max(levels[next], levels[node.id] + (changes ? 1 : 0));
    }
  }
  return levels;
}

}  // namespace

NodeGroups group_nodes(const GraphPartitioning& graph) {
  NodeGroups grouped;
  const std::vector<uint32_t> levels = levels_of(graph);
  std::map<std::tuple<std::string_view, std::string_view, uint32_t>, uint32_t> known;
  for (const PartitionedNode& node : graph.nodes) {
    const uint32_t level = node.partition.empty() ? levels[node.id] : 0;
    const auto [found, is_new] = known.try_emplace({node.provider, node.partition, level},
                                                   static_cast<uint32_t>(grouped.groups.size()));
    if (is_new) grouped.groups.push_back({node.provider, node.partition});
    grouped.of_node.push_back(found->second);
  }
  for (const PartitionedNode& node : graph.nodes) {
    for (const uint32_t next : node.successors) {
      const std::pair edge(grouped.of_node[node.id], grouped.of_node[next]);
      if (edge.first != edge.second) ++grouped.edges[edge];
    }
  }
  return grouped;
}

}  // namespace ephost::cli
