#include "host/session/planning.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/plan/checker.h"
#include "host/plan/memory_order.h"

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

// By node, from the model's metadata; empty if nothing is said. Text that is no number says
// nothing.
std::vector<int64_t> read_priorities(const graph::Model& model, const graph::Graph& graph) {
  constexpr std::string_view kPrefix = "ephost.priority.";
  std::map<std::string_view, int64_t> by_name;
  for (const auto& [key, text] : model.metadata) {
    if (!key.starts_with(kPrefix)) continue;
    int64_t priority = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, priority).ptr != end) continue;
    by_name[std::string_view(key).substr(kPrefix.size())] = priority;
  }
  std::vector<int64_t> priorities;
  if (by_name.empty()) return priorities;
  for (const graph::Node& node : graph.nodes) {
    const auto found = by_name.find(node.name);
    priorities.push_back(found == by_name.end() ? 0 : found->second);
  }
  return priorities;
}

std::vector<plan::StepTraits> traits_of(const PreparedGraph& prepared) {
  std::vector<plan::StepTraits> traits;
  traits.reserve(prepared.computations.size());
  for (const std::optional<bridge::Computation>& computation : prepared.computations) {
    traits.push_back(computation ? computation->traits() : plan::StepTraits());
  }
  return traits;
}

void reorder(PreparedGraph& prepared, std::span<const uint32_t> order) {
  std::vector<plan::Step> steps;
  std::vector<std::optional<bridge::Computation>> computations;
  steps.reserve(order.size());
  computations.reserve(order.size());
  for (const uint32_t step : order) {
    steps.push_back(std::move(prepared.execution.steps[step]));
    computations.push_back(std::move(prepared.computations[step]));
  }
  prepared.execution.steps = std::move(steps);
  prepared.computations = std::move(computations);
}

// Also the steps' order, where memory decides about it.
Status allocate(const graph::Graph& graph, const plan::AllocationOptions& options, StepOrder order,
                PreparedGraph& prepared) {
  const std::vector<plan::StepTraits> traits = traits_of(prepared);
  if (order == StepOrder::kDefault || order == StepOrder::kPriority) {
    EPHOST_ASSIGN_OR_RETURN(prepared.allocation,
                            plan::plan_allocation(graph, prepared.execution, traits, options));
    return Status::ok_status();
  }
  EPHOST_ASSIGN_OR_RETURN(plan::MemoryOrder found,
                          plan::order_for_memory(graph, prepared.execution, traits,
                                                 {options, order == StepOrder::kMemory}));
  prepared.allocation = std::move(found.allocation);
  prepared.order_rule = found.rule;
  prepared.order_bytes = found.bytes;
  prepared.given_order_bytes = found.given_bytes;
  if (!std::ranges::is_sorted(found.order)) reorder(prepared, found.order);
  return Status::ok_status();
}

Status plan_graph(const graph::Graph& graph, const SessionOptions& options,
                  const plan::AllocationOptions& allocation_options, StepOrder order,
                  PreparedGraph& prepared) {
  EPHOST_RETURN_IF_ERROR(allocate(graph, allocation_options, order, prepared));
  plan::MemoryOptions memory_options;
  memory_options.enable_mem_pattern = options.mem_pattern();
  EPHOST_ASSIGN_OR_RETURN(prepared.pattern,
                          plan::plan_memory(prepared.allocation, {}, memory_options));
#ifndef NDEBUG
  EPHOST_RETURN_IF_ERROR(plan::check_execution(graph, prepared.partitioning, prepared.execution));
  EPHOST_RETURN_IF_ERROR(
      plan::check_allocation(graph, prepared.execution, traits_of(prepared), prepared.allocation));
  EPHOST_RETURN_IF_ERROR(plan::check_memory(prepared.allocation, prepared.pattern));
#endif
  return Status::ok_status();
}

}  // namespace

Status order_steps(PreparedModel& model, StepOrder order) {
  for (PreparedGraph* prepared : model.graphs()) {
    const graph::Graph& graph = model.graph_of(*prepared);
    plan::ExecutionOptions options;
    std::vector<int64_t> priorities;
    if (order == StepOrder::kPriority) {
      priorities = read_priorities(model.model, graph);
      options = {plan::ExecutionOrder::kPriority, priorities};
    }
    EPHOST_ASSIGN_OR_RETURN(prepared->execution,
                            plan::plan_execution(graph, prepared->partitioning, options));
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

Status plan_memory(PreparedModel& model, const SessionOptions& options, StepOrder order) {
  const plan::AllocationOptions allocation_options = {options.mem_reuse(), options.mem_pattern()};
  for (PreparedGraph* prepared : model.graphs()) {
    EPHOST_RETURN_IF_ERROR(
        plan_graph(model.graph_of(*prepared), options, allocation_options, order, *prepared));
  }
  return Status::ok_status();
}

}  // namespace ephost::session
