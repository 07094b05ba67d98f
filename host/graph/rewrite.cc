#include "host/graph/rewrite.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"
#include "host/graph/topology.h"

namespace ephost::graph {
namespace {

std::vector<uint32_t> number_kept(const std::vector<bool>& keep) {
  std::vector<uint32_t> new_ids(keep.size(), kNoValue);
  uint32_t next = 0;
  for (size_t id = 0; id < keep.size(); ++id) {
    if (keep[id]) new_ids[id] = next++;
  }
  return new_ids;
}

void renumber(std::vector<ValueId>& ids, const std::vector<ValueId>& new_ids) {
  for (ValueId& id : ids) {
    if (id == kNoValue) continue;
    id = new_ids[id];
    assert(id != kNoValue && "a value that is used was removed");
  }
}

void keep_values_and_initializers(Graph& graph, const std::vector<bool>& keep) {
  std::vector<Value> values;
  std::vector<Tensor> initializers;
  for (size_t id = 0; id < keep.size(); ++id) {
    if (!keep[id]) continue;
    Value& value = values.emplace_back(std::move(graph.values[id]));
    if (value.initializer == kNoInitializer) continue;
    initializers.push_back(std::move(graph.initializers[value.initializer]));
    value.initializer = static_cast<uint32_t>(initializers.size() - 1);
  }
  graph.values = std::move(values);
  graph.initializers = std::move(initializers);
}

void keep_parameters(const Graph& graph, std::vector<bool>& keep_values) {
  for (const QuantizationAnnotation& annotation : graph.annotations) {
    if (!keep_values[annotation.value]) continue;
    for (const auto& [name, id] : annotation.parameters) {
      if (graph.values[id].initializer != kNoInitializer) keep_values[id] = true;
    }
  }
}

void keep_annotations(Graph& graph, const std::vector<ValueId>& new_ids) {
  for (QuantizationAnnotation& annotation : graph.annotations) {
    annotation.value = new_ids[annotation.value];
    for (auto& [name, id] : annotation.parameters) id = new_ids[id];
    std::erase_if(annotation.parameters,
                  [](const auto& entry) { return entry.second == kNoValue; });
  }
  std::erase_if(graph.annotations, [](const auto& entry) { return entry.value == kNoValue; });
}

// Where each node of the rewritten graph comes from: a kept node or a group, in the order of the
// old graph.
struct Origin {
  NodeId node = kNoNode;     // kept node, or first node of the group
  uint32_t group = kNoNode;  // index of the group
};

struct Plan {
  std::vector<uint32_t> group_of;  // by old node; kNoNode: kept
  std::vector<Origin> origins;     // by position in the rewritten graph before sorting
};

Result<Plan> plan_replacement(const Graph& graph, const std::vector<Group>& groups) {
  Plan plan{.group_of = std::vector<uint32_t>(graph.nodes.size(), kNoNode)};
  for (size_t group = 0; group < groups.size(); ++group) {
    if (groups[group].nodes.empty()) {
      return Status(StatusCode::kInvalidArgument, "a group of nodes to replace is empty");
    }
    for (const NodeId node : groups[group].nodes) {
      if (node >= graph.nodes.size() || plan.group_of[node] != kNoNode) {
        return Status(StatusCode::kInvalidArgument,
                      formatted("node #{} does not exist or is in two groups to replace", node));
      }
      plan.group_of[node] = static_cast<uint32_t>(group);
    }
  }
  std::vector<bool> placed(groups.size(), false);
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    const uint32_t group = plan.group_of[node];
    if (group != kNoNode && placed[group]) continue;
    if (group != kNoNode) placed[group] = true;
    plan.origins.push_back({.node = node, .group = group});
  }
  return plan;
}

const Node& node_at(const Graph& graph, const std::vector<Group>& groups, const Origin& origin) {
  return origin.group == kNoNode ? graph.nodes[origin.node] : groups[origin.group].replacement;
}

// The rewritten graph without attributes and data: enough to check its order.
Graph sketch(const Graph& graph, const std::vector<Group>& groups, const Plan& plan) {
  Graph result;
  result.values.resize(graph.values.size());
  for (const Origin& origin : plan.origins) {
    const Node& node = node_at(graph, groups, origin);
    Node light{.name = node.name, .op_type = node.op_type, .inputs = node.inputs};
    const std::vector<ValueId> captured = captured_values(node);
    light.inputs.insert(light.inputs.end(), captured.begin(), captured.end());
    light.kept_constants = node.kept_constants;
    light.outputs = node.outputs;
    result.nodes.push_back(std::move(light));
  }
  result.outputs = graph.outputs;
  connect(result);
  return result;
}

Status check_sources(const Graph& graph, const Graph& rewritten) {
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const Value& now = rewritten.values[id];
    const bool used = !now.consumers.empty() || now.is_graph_output;
    if (used && now.producer == kNoNode && graph.values[id].producer != kNoNode) {
      return {
          StatusCode::kInvalidGraph,
          formatted("value {} is still used, but the node that replaces its producer {} does not "
                    "produce it",
                    quote(graph.values[id].name), describe_node(graph, graph.values[id].producer))};
    }
  }
  return Status::ok_status();
}

// Values that the rewritten graph uses, and those that no replaced node ever used.
std::vector<bool> values_to_keep(const Graph& graph, const Graph& rewritten, const Plan& plan) {
  std::vector<bool> keep(graph.values.size());
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const Value& before = graph.values[id];
    const Value& now = rewritten.values[id];
    const bool replaced_node_touched =
        (before.producer != kNoNode && plan.group_of[before.producer] != kNoNode) ||
        std::any_of(before.consumers.begin(), before.consumers.end(),
                    [&](NodeId consumer) { return plan.group_of[consumer] != kNoNode; });
    keep[id] = before.is_graph_input || before.is_graph_output || now.producer != kNoNode ||
               !now.consumers.empty() || !replaced_node_touched;
  }
  return keep;
}

}  // namespace

Renumbering compact(Graph& graph, const std::vector<bool>& keep_nodes,
                    std::vector<bool> keep_values) {
  assert(keep_nodes.size() == graph.nodes.size() && keep_values.size() == graph.values.size());
  keep_parameters(graph, keep_values);
  Renumbering numbers{.nodes = number_kept(keep_nodes), .values = number_kept(keep_values)};
  std::vector<Node> nodes;
  for (size_t id = 0; id < keep_nodes.size(); ++id) {
    if (!keep_nodes[id]) continue;
    Node& node = nodes.emplace_back(std::move(graph.nodes[id]));
    renumber(node.inputs, numbers.values);
    renumber(node.outputs, numbers.values);
    renumber(node.kept_constants, numbers.values);
    renumber_captures(node, numbers.values);
  }
  graph.nodes = std::move(nodes);
  keep_values_and_initializers(graph, keep_values);
  renumber(graph.inputs, numbers.values);
  renumber(graph.outputs, numbers.values);
  keep_annotations(graph, numbers.values);
  connect(graph);
  return numbers;
}

Result<Renumbering> replace_nodes(Graph& graph, std::vector<Group> groups) {
  EPHOST_ASSIGN_OR_RETURN(const Plan plan, plan_replacement(graph, groups));
  const Graph rewritten = sketch(graph, groups, plan);
  EPHOST_RETURN_IF_ERROR(check_sources(graph, rewritten));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<NodeId> order, topological_order(rewritten));
  const std::vector<bool> keep_values = values_to_keep(graph, rewritten, plan);

  std::vector<NodeId> id_of_group(groups.size(), kNoNode);
  Renumbering numbers{.nodes = std::vector<NodeId>(graph.nodes.size(), kNoNode)};
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (const NodeId position : order) {
    const Origin& origin = plan.origins[position];
    const auto id = static_cast<NodeId>(nodes.size());
    if (origin.group == kNoNode) {
      numbers.nodes[origin.node] = id;
      nodes.push_back(std::move(graph.nodes[origin.node]));
    } else {
      id_of_group[origin.group] = id;
      nodes.push_back(std::move(groups[origin.group].replacement));
    }
  }
  for (size_t id = 0; id < numbers.nodes.size(); ++id) {
    if (plan.group_of[id] != kNoNode) numbers.nodes[id] = id_of_group[plan.group_of[id]];
  }
  graph.nodes = std::move(nodes);
  numbers.values = compact(graph, std::vector<bool>(graph.nodes.size(), true), keep_values).values;
  return numbers;
}

}  // namespace ephost::graph
