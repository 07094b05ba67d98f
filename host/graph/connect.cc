#include "host/graph/connect.h"

#include <cassert>

#include "host/graph/subgraphs.h"

namespace ephost::graph {
namespace {

void clear_connections(Graph& graph) {
  for (Value& value : graph.values) {
    value.producer = kNoNode;
    value.consumers.clear();
    value.is_graph_input = false;
    value.is_graph_output = false;
  }
  for (const ValueId id : graph.inputs) graph.values[id].is_graph_input = true;
  for (const ValueId id : graph.outputs) graph.values[id].is_graph_output = true;
}

void record_uses(Graph& graph, NodeId node, const std::vector<ValueId>& used) {
  for (const ValueId id : used) {
    if (id == kNoValue) continue;
    assert(id < graph.values.size());
    std::vector<NodeId>& consumers = graph.values[id].consumers;
    if (consumers.empty() || consumers.back() != node) consumers.push_back(node);
  }
}

}  // namespace

void connect(Graph& graph) {
  clear_connections(graph);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    Node& node = graph.nodes[id];
    for_each_subgraph(node, [](Graph& subgraph) { connect(subgraph); });
    node.implicit_inputs = captured_values(node);
    record_uses(graph, id, node.inputs);
    record_uses(graph, id, node.implicit_inputs);
    record_uses(graph, id, node.kept_constants);
    for (const ValueId output : node.outputs) {
      if (output != kNoValue) graph.values[output].producer = id;
    }
  }
}

}  // namespace ephost::graph
