#include "host/session/tools/partition_model.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "host/partition/explain.h"
#include "host/session/creation/pipeline.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/session_log.h"
#include "host/session/tools/best_shapes.h"

namespace ephost::session {
namespace {

std::vector<std::string> names_of(const graph::Graph& graph,
                                  std::span<const graph::ValueId> values) {
  std::vector<std::string> names;
  for (const graph::ValueId value : values) names.push_back(graph.values[value].name);
  return names;
}

std::vector<std::set<uint32_t>> successors_of(const graph::Graph& graph) {
  std::vector<std::set<uint32_t>> successors(graph.nodes.size());
  for (const graph::Value& value : graph.values) {
    if (value.producer == graph::kNoNode) continue;
    successors[value.producer].insert(value.consumers.begin(), value.consumers.end());
  }
  return successors;
}

std::vector<PartitionedNode> describe_nodes(const graph::Graph& graph,
                                            const partition::Explanation& explanation) {
  const std::vector<std::set<uint32_t>> successors = successors_of(graph);
  std::vector<PartitionedNode> nodes;
  for (const partition::ExplainedNode& node : explanation.nodes) {
    const std::set<uint32_t>& next = successors[node.node];
    nodes.push_back({.id = node.node,
                     .name = node.name,
                     .op = node.op,
                     .since_version = node.since_version,
                     .description = graph::describe_node(graph, node.node),
                     .provider = node.provider,
                     .partition = node.partition,
                     .refusals = node.refusals,
                     .successors = {next.begin(), next.end()}});
  }
  return nodes;
}

GraphPartitioning describe_graph(const graph::Graph& graph, const PreparedGraph& prepared) {
  const partition::Partitioning& partitioning = prepared.partitioning;
  const partition::Explanation explanation = partition::explain(graph, partitioning);
  GraphPartitioning result{.path = prepared.path,
                           .name = graph.name,
                           .nodes = describe_nodes(graph, explanation),
                           .unassigned_nodes = explanation.unassigned_nodes};
  for (const partition::ProviderSummary& provider : explanation.providers) {
    result.providers.push_back({provider.name, provider.kernel_nodes, provider.fused_nodes,
                                provider.partitions, provider.refused_claims});
  }
  for (const partition::Partition& partition : partitioning.partitions) {
    result.partitions.push_back({partition.name, partitioning.providers[partition.provider],
                                 partition.nodes, names_of(graph, partition.inputs),
                                 names_of(graph, partition.outputs)});
  }
  for (const partition::Refusal& refusal : explanation.refusals) {
    result.refused_claims.push_back(
        {refusal.provider, refusal.nodes, refusal.fused, refusal.reason});
  }
  for (size_t i = 0; i < prepared.declines.size(); ++i) {
    for (const bridge::Decline& decline : prepared.declines[i]) {
      result.declined_nodes.push_back({partitioning.providers[i], decline.node, decline.reason});
    }
  }
  return result;
}

std::vector<PluginOperator> used_operators(const PreparedModel& prepared) {
  std::vector<PluginOperator> used;
  if (prepared.operators == nullptr) return used;
  std::map<std::tuple<std::string, std::string, int32_t>, PluginOperator> by_name;
  for (const PreparedGraph* one : prepared.graphs()) {
    for (const graph::Node& node : prepared.graph_of(*one).nodes) {
      const auto* definition =
          prepared.operators->find(node.domain, node.op_type, node.since_version);
      if (definition == nullptr) continue;
      PluginOperator& found = by_name[{node.domain, node.op_type, definition->since_version}];
      found = {node.op_type, node.domain, definition->since_version, definition->plugin,
               found.nodes + 1};
    }
  }
  for (auto& [name, found] : by_name) used.push_back(std::move(found));
  return used;
}

ModelPartitioning describe_model(const PreparedModel& prepared) {
  ModelPartitioning result{.is_context_model = prepared.is_context_model(),
                           .folded_nodes = prepared.folding.folded_nodes,
                           .removed_identities = prepared.removed_identities,
                           .notes = prepared.notes};
  for (const PreparedGraph* one : prepared.graphs()) {
    const graph::Graph& graph = prepared.graph_of(*one);
    result.graphs.push_back(describe_graph(graph, *one));
    if (result.coverage.ok()) result.coverage = partition::check_cover(graph, one->partitioning);
  }
  result.plugin_operators = used_operators(prepared);
  for (const InlinedCall& call : prepared.inlined) {
    result.inlined.push_back({call.path, call.call, call.domain, call.nodes});
  }
  return result;
}

}  // namespace

Result<ModelPartitioning> partition_model(EnvironmentState& environment,
                                          const std::filesystem::path& model,
                                          const GivenOptions& options, PartitionStage stage) {
  const Stage until =
      stage == PartitionStage::kCompilation ? Stage::kCompiled : Stage::kPartitioned;
  return without_exceptions("partitioning a model", [&]() -> Result<ModelPartitioning> {
    const Log log = session_log(environment, options);
    const LogScope scope(log);
    EPHOST_ASSIGN_OR_RETURN(ShapedModel shaped,
                            prepare_best_shape(environment, model, options, until));
    ModelPartitioning result = describe_model(shaped.prepared);
    std::ranges::move(shaped.notes, std::back_inserter(result.notes));
    return result;
  });
}

}  // namespace ephost::session
