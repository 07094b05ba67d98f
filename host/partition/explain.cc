#include "host/partition/explain.h"

#include <algorithm>

namespace ephost::partition {
namespace {

void summarize_nodes(const Partitioning& partitioning, Explanation& explanation) {
  for (size_t i = 0; i < partitioning.owner.size(); ++i) {
    if (partitioning.owner[i] == kUnassigned) {
      ++explanation.unassigned_nodes;
      continue;
    }
    ProviderSummary& summary = explanation.providers[partitioning.owner[i]];
    ++(partitioning.partition_of[i] == kNoPartition ? summary.kernel_nodes : summary.fused_nodes);
  }
  for (const Partition& partition : partitioning.partitions) {
    ++explanation.providers[partition.provider].partitions;
  }
}

void collect_refusals(const Partitioning& partitioning, Explanation& explanation) {
  for (const Decision& decision : partitioning.decisions) {
    if (decision.accepted) continue;
    ++explanation.providers[decision.provider].refused_claims;
    const auto index = static_cast<uint32_t>(explanation.refusals.size());
    Refusal& refusal = explanation.refusals.emplace_back();
    refusal.provider = partitioning.providers[decision.provider];
    refusal.fused = decision.fused;
    refusal.reason = decision.reason;
    refusal.nodes = decision.nodes;
    std::ranges::sort(refusal.nodes);
    refusal.nodes.erase(std::unique(refusal.nodes.begin(), refusal.nodes.end()),
                        refusal.nodes.end());
    std::erase_if(refusal.nodes, [&](NodeId node) { return node >= explanation.nodes.size(); });
    for (const NodeId node : refusal.nodes) explanation.nodes[node].refusals.push_back(index);
  }
}

ExplainedNode explain_node(const Graph& graph, const Partitioning& partitioning, NodeId id) {
  const graph::Node& node = graph.nodes[id];
  ExplainedNode explained;
  explained.node = id;
  explained.name = node.name;
  explained.op = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  explained.since_version = node.since_version;
  if (const uint32_t owner = partitioning.owner[id]; owner != kUnassigned) {
    explained.provider = partitioning.providers[owner];
  }
  if (const uint32_t partition = partitioning.partition_of[id]; partition != kNoPartition) {
    explained.partition = partitioning.partitions[partition].name;
  }
  return explained;
}

}  // namespace

Explanation explain(const Graph& graph, const Partitioning& partitioning) {
  Explanation explanation;
  explanation.graph_name = graph.name;
  for (const std::string& provider : partitioning.providers) {
    explanation.providers.emplace_back().name = provider;
  }
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    explanation.nodes.push_back(explain_node(graph, partitioning, node));
  }
  summarize_nodes(partitioning, explanation);
  collect_refusals(partitioning, explanation);
  return explanation;
}

}  // namespace ephost::partition
