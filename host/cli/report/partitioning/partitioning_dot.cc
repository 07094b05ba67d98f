#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/cli/report/partitioning/partitioning.h"

namespace ephost::cli {
namespace {

std::string dot_string(std::string_view text) {
  std::string escaped = "\"";
  for (const char c : printable_line(text)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped + "\"";
}

std::string vertex_line(const GraphPartitioning& graph, const PartitionedNode& node) {
  std::string label = node.op;
  if (!node.name.empty()) label += " " + node.name;
  return formatted("n{} [label={}, fillcolor=\"{}\"];\n", node.id, dot_string(label),
                   provider_color(graph, node.provider));
}

std::string cluster(const GraphPartitioning& graph, size_t index) {
  const PartitionReport& partition = graph.partitions[index];
  std::string text =
      formatted("  subgraph cluster_{} {{\n    label={};\n", index, dot_string(partition.name));
  for (const uint32_t node : partition.nodes) {
    text += "    " + vertex_line(graph, graph.nodes[node]);
  }
  return text + "  }\n";
}

std::string legend(const GraphPartitioning& graph) {
  std::string text = "  subgraph cluster_legend {\n    label=\"providers\";\n";
  for (size_t i = 0; i < graph.providers.size(); ++i) {
    const std::string& provider = graph.providers[i].provider;
    text += formatted("    p{} [label={}, fillcolor=\"{}\"];\n", i, dot_string(provider),
                      provider_color(graph, provider));
  }
  return text + "  }\n";
}

}  // namespace

std::string to_dot(const GraphPartitioning& graph) {
  std::string text =
      formatted("digraph {} {{\n  node [shape=box, style=filled];\n{}",
                dot_string(graph.path.empty() ? graph.name : graph.path), legend(graph));
  for (size_t i = 0; i < graph.partitions.size(); ++i) text += cluster(graph, i);
  for (const PartitionedNode& node : graph.nodes) {
    if (node.partition.empty()) text += "  " + vertex_line(graph, node);
  }
  for (const PartitionedNode& node : graph.nodes) {
    for (const uint32_t next : node.successors) {
      text += formatted("  n{} -> n{};\n", node.id, next);
    }
  }
  return text + "}\n";
}

}  // namespace ephost::cli
