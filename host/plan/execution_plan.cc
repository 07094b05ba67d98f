#include "host/plan/execution_plan.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::plan {

using graph::kNoNode;
using partition::kUnassigned;
using partition::Partition;
using partition::Partitioning;

namespace {

Status partitioning_misfit(const Graph& graph, const std::string& what) {
  return {StatusCode::kInvalidArgument,
          formatted("cannot plan the execution of graph {}: {}; plan what partition_graph returned",
                    quote(graph.name), what)};
}

Status check_fit(const Graph& graph, const Partitioning& partitioning) {
  const size_t nodes = graph.nodes.size();
  if (partitioning.owner.size() != nodes || partitioning.partition_of.size() != nodes) {
    return partitioning_misfit(graph, "the partitioning belongs to another graph");
  }
  size_t fused = 0;
  for (NodeId node = 0; node < nodes; ++node) {
    if (partitioning.owner[node] == kUnassigned) {
      return partitioning_misfit(graph, graph::describe_node(graph, node) + " has no owner");
    }
    if (partitioning.partition_of[node] != kNoPartition) ++fused;
  }
  for (uint32_t i = 0; i < partitioning.partitions.size(); ++i) {
    const std::vector<NodeId>& members = partitioning.partitions[i].nodes;
    const bool ours = std::ranges::all_of(
        members, [&](NodeId node) { return node < nodes && partitioning.partition_of[node] == i; });
    if (members.empty() || !ours || !std::ranges::is_sorted(members, std::less_equal<>())) {
      return partitioning_misfit(graph, formatted("the node list of partition #{} is wrong", i));
    }
    fused -= std::min(fused, members.size());
  }
  return fused == 0 ? Status::ok_status()
                    : partitioning_misfit(graph, "a node's partition does not list it");
}

// Orders the contracted graph, in which a partition is identified by its first node.
class StepOrder {
 public:
  StepOrder(const Graph& graph, const Partitioning& partitioning);

  // First nodes of steps in order; fewer than there are steps if partitions depend on each other.
  [[nodiscard]] std::vector<NodeId> run(const ExecutionOptions& options);
  [[nodiscard]] size_t steps() const { return steps_; }

 private:
  // The lowest number goes first.
  using Rank = std::tuple<bool, int64_t, NodeId>;

  [[nodiscard]] Rank rank_of(NodeId first, const ExecutionOptions& options) const;
  [[nodiscard]] NodeId first_of(NodeId node) const;
  [[nodiscard]] std::span<const NodeId> members(const NodeId& first) const;
  template <class Visit>
  void for_each_dependent(NodeId node, Visit visit) const;

  const Graph& graph_;
  const Partitioning& partitioning_;
  size_t steps_ = 0;
  std::vector<uint32_t> waits_for_;  // by first node: number of inputs not yet produced
};

StepOrder::StepOrder(const Graph& graph, const Partitioning& partitioning)
    : graph_(graph), partitioning_(partitioning), waits_for_(graph.nodes.size(), 0) {
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    if (first_of(node) == node) ++steps_;
    for_each_dependent(node, [&](NodeId dependent) { ++waits_for_[dependent]; });
  }
}

NodeId StepOrder::first_of(NodeId node) const {
  const uint32_t partition = partitioning_.partition_of[node];
  return partition == kNoPartition ? node : partitioning_.partitions[partition].nodes.front();
}

std::span<const NodeId> StepOrder::members(const NodeId& first) const {
  const uint32_t partition = partitioning_.partition_of[first];
  if (partition == kNoPartition) return {&first, 1};
  return partitioning_.partitions[partition].nodes;
}

// Once for each value and each consumer of it in another step.
template <class Visit>
void StepOrder::for_each_dependent(NodeId node, Visit visit) const {
  for (const ValueId output : graph_.nodes[node].outputs) {
    if (output == kNoValue) continue;
    for (const NodeId consumer : graph_.values[output].consumers) {
      if (first_of(consumer) != first_of(node)) visit(first_of(consumer));
    }
  }
}

StepOrder::Rank StepOrder::rank_of(NodeId first, const ExecutionOptions& options) const {
  if (options.order == ExecutionOrder::kDefault) return {false, 0, first};
  const graph::Node& node = graph_.nodes[first];
  const bool reads_shapes = node.domain.empty() &&
                            (node.op_type == "Shape" || node.op_type == "Size") &&
                            members(first).size() == 1;
  int64_t priority = options.priorities.empty() ? 0 : options.priorities[first];
  for (const NodeId member : members(first)) {
    if (!options.priorities.empty()) priority = std::min(priority, options.priorities[member]);
  }
  return {!reads_shapes, priority, first};
}

std::vector<NodeId> StepOrder::run(const ExecutionOptions& options) {
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> ready;
  for (NodeId node = 0; node < graph_.nodes.size(); ++node) {
    if (first_of(node) == node && waits_for_[node] == 0) ready.push(rank_of(node, options));
  }
  std::vector<NodeId> order;
  order.reserve(steps_);
  while (!ready.empty()) {
    const NodeId first = std::get<NodeId>(ready.top());
    ready.pop();
    order.push_back(first);
    for (const NodeId node : members(first)) {
      for_each_dependent(node, [&](NodeId dependent) {
        if (--waits_for_[dependent] == 0) ready.push(rank_of(dependent, options));
      });
    }
  }
  return order;
}

Step make_step(const Graph& graph, const Partitioning& partitioning, NodeId first) {
  Step step;
  step.provider = partitioning.owner[first];
  step.node = first;
  step.partition = partitioning.partition_of[first];
  if (step.partition == kNoPartition) {
    const graph::Node& node = graph.nodes[first];
    step.inputs = node.inputs;
    step.outputs = node.outputs;
    step.implicit_inputs = node.implicit_inputs;
  } else {
    const Partition& partition = partitioning.partitions[step.partition];
    step.inputs = partition.inputs;
    step.outputs = partition.outputs;
  }
  return step;
}

}  // namespace

Result<ExecutionPlan> plan_execution(const Graph& graph, const Partitioning& partitioning,
                                     const ExecutionOptions& options) {
  EPHOST_RETURN_IF_ERROR(check_fit(graph, partitioning));
  if (!options.priorities.empty() && options.priorities.size() != graph.nodes.size()) {
    return partitioning_misfit(graph, "the priorities belong to another graph");
  }
  StepOrder order(graph, partitioning);
  const std::vector<NodeId> firsts = order.run(options);
  if (firsts.size() != order.steps()) {
    return partitioning_misfit(graph, "partitions or nodes depend on each other in a cycle");
  }
  ExecutionPlan plan;
  plan.steps.reserve(firsts.size());
  for (const NodeId first : firsts) plan.steps.push_back(make_step(graph, partitioning, first));
  return plan;
}

}  // namespace ephost::plan
