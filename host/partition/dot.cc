#include <set>
#include <utility>

#include "host/base/printable.h"
#include "host/partition/explain.h"
#include "host/partition/render.h"

namespace ephost::partition {
namespace {

std::string dot_string(std::string_view text) {
  std::string escaped = "\"";
  for (const char c : printable_line(text)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped + "\"";
}

std::string_view color_of(const Partitioning& partitioning, NodeId node) {
  const uint32_t owner = partitioning.owner[node];
  return owner == kUnassigned ? kUnassignedColor : provider_color(owner);
}

std::string vertex_line(const Graph& graph, const Partitioning& partitioning, NodeId node) {
  const graph::Node& n = graph.nodes[node];
  std::string label = operator_name(n);
  if (!n.name.empty()) label += " " + n.name;
  return "n" + std::to_string(node) + " [label=" + dot_string(label) + ", fillcolor=\"" +
         std::string(color_of(partitioning, node)) + "\"];\n";
}

std::string cluster(const Graph& graph, const Partitioning& partitioning, size_t index) {
  const Partition& partition = partitioning.partitions[index];
  std::string text = "  subgraph cluster_" + std::to_string(index) +
                     " {\n    label=" + dot_string(partition.name) + ";\n";
  for (const NodeId node : partition.nodes) {
    text += "    " + vertex_line(graph, partitioning, node);
  }
  return text + "  }\n";
}

std::string legend(const Partitioning& partitioning) {
  std::string text = "  subgraph cluster_legend {\n    label=\"providers\";\n";
  for (uint32_t i = 0; i < partitioning.providers.size(); ++i) {
    text += "    p" + std::to_string(i) + " [label=" + dot_string(partitioning.providers[i]) +
            ", fillcolor=\"" + std::string(provider_color(i)) + "\"];\n";
  }
  return text + "  }\n";
}

std::string edges(const Graph& graph) {
  std::set<std::pair<NodeId, NodeId>> seen;
  for (const graph::Value& value : graph.values) {
    if (value.producer == graph::kNoNode) continue;
    for (const NodeId consumer : value.consumers) seen.emplace(value.producer, consumer);
  }
  std::string text;
  for (const auto& [from, to] : seen) {
    text += "  n" + std::to_string(from) + " -> n" + std::to_string(to) + ";\n";
  }
  return text;
}

}  // namespace

std::string to_dot(const Graph& graph, const Partitioning& partitioning, std::string_view name) {
  std::string text = "digraph " + dot_string(name.empty() ? graph.name : name) +
                     " {\n  node [shape=box, style=filled];\n" + legend(partitioning);
  for (size_t i = 0; i < partitioning.partitions.size(); ++i) {
    text += cluster(graph, partitioning, i);
  }
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    if (partitioning.partition_of[node] == kNoPartition) {
      text += "  " + vertex_line(graph, partitioning, node);
    }
  }
  return text + edges(graph) + "}\n";
}

}  // namespace ephost::partition
