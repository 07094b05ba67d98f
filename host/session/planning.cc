#include "host/session/planning.h"

#include <optional>
#include <vector>

#include "host/plan/checker.h"

namespace ephost::session {
namespace {

void release_constants(graph::Graph& graph, const partition::Partitioning& partitioning) {
  std::vector<bool> needed(graph.values.size(), true);
  const std::vector<partition::Partition>& partitions = partitioning.partitions;
  for (const partition::Partition& partition : partitions) {
    if (!partition.drop_constants) continue;
    for (const graph::ValueId id : partition.constants) needed[id] = false;
  }
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const uint32_t owner = partitioning.partition_of[id];
    if (owner != partition::kNoPartition && partitions[owner].drop_constants) continue;
    for (const graph::ValueId input : graph.nodes[id].inputs) {
      if (input != graph::kNoValue) needed[input] = true;
    }
    for (const graph::ValueId input : graph.nodes[id].implicit_inputs) needed[input] = true;
  }
  for (graph::ValueId id = 0; id < graph.values.size(); ++id) {
    const graph::Value& value = graph.values[id];
    if (needed[id] || !value.is_constant() || value.is_graph_output) continue;
    graph.initializers[value.initializer].data = {};
    graph.initializers[value.initializer].strings = nullptr;
  }
}

Status plan_graph(const graph::Graph& graph, const SessionOptions& options,
                  PreparedGraph& prepared) {
  std::vector<plan::StepTraits> traits;
  for (const std::optional<bridge::Computation>& computation : prepared.computations) {
    plan::StepTraits& step = traits.emplace_back();
    if (!computation) continue;
    step = {computation->may_inplace(), computation->aliases(), computation->workspace_bytes(), 0};
  }
  EPHOST_ASSIGN_OR_RETURN(
      prepared.allocation,
      plan::plan_allocation(graph, prepared.execution, traits, {options.mem_reuse()}));
  plan::MemoryOptions memory_options;
  memory_options.enable_mem_pattern = options.mem_pattern();
  EPHOST_ASSIGN_OR_RETURN(prepared.pattern,
                          plan::plan_memory(prepared.allocation, {}, memory_options));
#ifndef NDEBUG
  EPHOST_RETURN_IF_ERROR(
      plan::check_allocation(graph, prepared.execution, traits, prepared.allocation));
  EPHOST_RETURN_IF_ERROR(plan::check_memory(prepared.allocation, prepared.pattern));
#endif
  return Status::ok_status();
}

}  // namespace

Status order_steps(PreparedModel& model) {
  for (PreparedGraph* prepared : model.graphs()) {
    const graph::Graph& graph = model.graph_of(*prepared);
    EPHOST_ASSIGN_OR_RETURN(prepared->execution,
                            plan::plan_execution(graph, prepared->partitioning));
#ifndef NDEBUG
    EPHOST_RETURN_IF_ERROR(
        plan::check_execution(graph, prepared->partitioning, prepared->execution));
#endif
  }
  return Status::ok_status();
}

void release_dropped_constants(PreparedModel& model) {
  for (PreparedGraph* prepared : model.graphs()) {
    release_constants(model.graph_of(*prepared), prepared->partitioning);
  }
}

Status plan_memory(PreparedModel& model, const SessionOptions& options) {
  for (PreparedGraph* prepared : model.graphs()) {
    EPHOST_RETURN_IF_ERROR(plan_graph(model.graph_of(*prepared), options, *prepared));
  }
  return Status::ok_status();
}

}  // namespace ephost::session
