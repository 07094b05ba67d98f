#include "host/session/pipeline/renumbering.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace ephost::session {
namespace {

using graph::Graph;
using graph::NodeId;
using optimize::InlinedRange;

bool stays(const InlinedRange& range) { return range.end - range.begin == 1; }

void renumber(const Graph& graph, std::span<const InlinedRange> ranges, MadeComputations& made) {
  decltype(made.compiled) compiled;
  while (!made.compiled.empty()) {
    auto entry = made.compiled.extract(made.compiled.begin());
    auto& [provider, of_graph, nodes, name] = entry.key();
    if (of_graph == &graph) {
      if (!std::ranges::all_of(nodes, [&](NodeId node) { return stays(ranges[node]); })) continue;
      for (NodeId& node : nodes) node = ranges[node].begin;
    }
    compiled.insert(std::move(entry));
  }
  made.compiled = std::move(compiled);
  for (auto& [origin, kernels] : made.kernels) {
    if (origin.second != &graph) continue;
    std::vector<std::optional<bridge::Computation>> moved(graph.nodes.size());
    for (NodeId node = 0; node < kernels.size(); ++node) {
      if (stays(ranges[node])) moved[ranges[node].begin] = std::move(kernels[node]);
    }
    kernels = std::move(moved);
  }
}

// Renumbers the bodies inside of one that is `depth` levels deep, or inside of the model's own
// graph.
void renumber_places(std::vector<PreparedGraph>& bodies, size_t depth,
                     const std::vector<NodeId>& new_ids) {
  for (PreparedGraph& body : bodies) {
    body.place[depth].node = new_ids[body.place[depth].node];
    renumber_places(body.bodies, depth, new_ids);
  }
}

}  // namespace

void renumber_nodes(const Graph& graph, std::span<const InlinedRange> ranges,
                    PreparedModel& prepared, MadeComputations& made) {
  for (CompileFailure& failure : prepared.failures) {
    if (failure.graph != &graph) continue;
    std::vector<NodeId> nodes;
    for (const NodeId node : failure.nodes) {
      for (NodeId id = ranges[node].begin; id < ranges[node].end; ++id) nodes.push_back(id);
    }
    failure.nodes = std::move(nodes);
  }
  for (context::CachedPartition& partition : prepared.context.partitions) {
    if (partition.place.graph != &graph) continue;
    partition.place.node = ranges[partition.place.node].begin;
  }
  renumber(graph, ranges, made);
}

void renumber_owners(PreparedGraph& prepared, const graph::Renumbering& numbers) {
  partition::Partitioning& partitioning = prepared.partitioning;
  std::vector<uint32_t> owner;
  std::vector<uint32_t> partition_of;
  for (NodeId id = 0; id < numbers.nodes.size(); ++id) {
    if (numbers.nodes[id] == graph::kNoNode) continue;
    owner.push_back(partitioning.owner[id]);
    partition_of.push_back(partitioning.partition_of[id]);
  }
  partitioning.owner = std::move(owner);
  partitioning.partition_of = std::move(partition_of);
  const auto renumber_all = [](std::vector<uint32_t>& ids, const std::vector<uint32_t>& new_ids) {
    for (uint32_t& id : ids) id = new_ids[id];
  };
  for (partition::Partition& partition : partitioning.partitions) {
    renumber_all(partition.nodes, numbers.nodes);
    for (auto* values : {&partition.inputs, &partition.outputs, &partition.constants}) {
      renumber_all(*values, numbers.values);
    }
  }
  partitioning.decisions.clear();
  prepared.declines.clear();
  renumber_places(prepared.bodies, prepared.place.size(), numbers.nodes);
}

}  // namespace ephost::session
