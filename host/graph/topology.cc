#include "host/graph/topology.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"

namespace ephost::graph {
namespace {

// For each node, the number of values it uses whose producers are not ordered yet.
using Pending = std::vector<uint32_t>;

Pending count_pending(const Graph& graph) {
  Pending pending(graph.nodes.size(), 0);
  for (const Value& value : graph.values) {
    if (value.producer == kNoNode) continue;
    for (const NodeId consumer : value.consumers) ++pending[consumer];
  }
  return pending;
}

NodeId pending_predecessor(const Graph& graph, NodeId node, const Pending& pending) {
  const Node& consumer = graph.nodes[node];
  for (const std::vector<ValueId>* used : {&consumer.inputs, &consumer.implicit_inputs}) {
    for (const ValueId id : *used) {
      if (id == kNoValue) continue;
      const NodeId producer = graph.values[id].producer;
      if (producer != kNoNode && pending[producer] > 0) return producer;
    }
  }
  return kNoNode;
}

// A walk backwards from a node that never became ready must reach some node twice.
Status cycle_error(const Graph& graph, const Pending& pending) {
  const auto stuck = std::find_if(pending.begin(), pending.end(), [](uint32_t n) { return n > 0; });
  auto node = static_cast<NodeId>(stuck - pending.begin());
  std::vector<bool> seen(graph.nodes.size(), false);
  while (!seen[node]) {
    seen[node] = true;
    node = pending_predecessor(graph, node, pending);
  }
  return {StatusCode::kInvalidGraph, "the graph has a cycle through " + describe_node(graph, node) +
                                         "; a model's nodes must depend on earlier nodes only"};
}

bool is_identity(const std::vector<NodeId>& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

// The nodes are permuted; the caller reconnects the graph.
Status reorder(Graph& graph) {
  for (Node& node : graph.nodes) {
    Status status;
    for_each_subgraph(node, [&](Graph& subgraph) {
      if (status.ok()) status = reorder(subgraph);
    });
    EPHOST_RETURN_IF_ERROR(status);
  }
  EPHOST_ASSIGN_OR_RETURN(const std::vector<NodeId> order, topological_order(graph));
  if (is_identity(order)) return Status::ok_status();
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (const NodeId id : order) sorted.push_back(std::move(graph.nodes[id]));
  graph.nodes = std::move(sorted);
  return Status::ok_status();
}

}  // namespace

Result<std::vector<NodeId>> topological_order(const Graph& graph) {
  Pending pending = count_pending(graph);
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (pending[id] == 0) ready.push(id);
  }
  std::vector<NodeId> order;
  order.reserve(graph.nodes.size());
  while (!ready.empty()) {
    const NodeId node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const ValueId output : graph.nodes[node].outputs) {
      if (output == kNoValue) continue;
      for (const NodeId consumer : graph.values[output].consumers) {
        if (--pending[consumer] == 0) ready.push(consumer);
      }
    }
  }
  if (order.size() < graph.nodes.size()) return cycle_error(graph, pending);
  return order;
}

Status sort_topologically(Graph& graph) {
  Status status = reorder(graph);
  connect(graph);
  return status;
}

}  // namespace ephost::graph
