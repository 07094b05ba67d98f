#include "host/partition/explain.h"

#include <algorithm>
#include <array>

#include "host/base/printable.h"
#include "host/partition/render.h"

namespace ephost::partition {
namespace {

// Text for one cell of a table; long names are truncated.
std::string cell(std::string_view text) {
  constexpr size_t kWidest = 60;
  if (text.size() <= kWidest) return printable_line(text);
  // The cut must not split a UTF-8 sequence.
  size_t end = kWidest;
  while (end > kWidest - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return printable_line(text.substr(0, end)) + "...";
}

constexpr size_t kColumns = 6;
using Cells = std::array<std::string, kColumns>;

Cells cells_of(const Explanation& explanation, const ExplainedNode& node) {
  std::string refused;
  if (!node.refusals.empty()) {
    refused = cell(explanation.refusals[node.refusals.front()].provider);
    if (node.refusals.size() > 1) refused += " +" + std::to_string(node.refusals.size() - 1);
  }
  return {std::to_string(node.node),
          cell(node.name.empty() ? "-" : node.name),
          cell(node.op),
          cell(node.provider.empty() ? "(none)" : node.provider),
          cell(node.partition.empty() ? "-" : node.partition),
          refused.empty() ? "-" : refused};
}

std::string table(const Explanation& explanation) {
  std::vector<Cells> rows = {{"node", "name", "operator", "provider", "partition", "refused to"}};
  for (const ExplainedNode& node : explanation.nodes) rows.push_back(cells_of(explanation, node));
  std::array<size_t, kColumns> widths{};
  for (const Cells& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], column_count(row[i]));
  }
  std::string text;
  for (const Cells& row : rows) {
    for (size_t i = 0; i + 1 < kColumns; ++i) {
      text += row[i] + std::string(widths[i] - column_count(row[i]) + 2, ' ');
    }
    text += row.back() + "\n";
  }
  return text;
}

void summarize_nodes(const Partitioning& partitioning, Explanation& explanation) {
  for (size_t i = 0; i < partitioning.owner.size(); ++i) {
    if (partitioning.owner[i] == kUnassigned) {
      ++explanation.unassigned_nodes;
      continue;
    }
    ProviderSummary& summary = explanation.providers[partitioning.owner[i]];
    ++(partitioning.partition_of[i] == kNoPartition ? summary.kernel_nodes : summary.fused_nodes);
  }
  for (const Partition& partition : partitioning.partitions) {
    ++explanation.providers[partition.provider].partitions;
  }
}

void collect_refusals(const Partitioning& partitioning, Explanation& explanation) {
  for (const Decision& decision : partitioning.decisions) {
    if (decision.accepted) continue;
    ++explanation.providers[decision.provider].refused_claims;
    const auto index = static_cast<uint32_t>(explanation.refusals.size());
    Refusal& refusal = explanation.refusals.emplace_back();
    refusal.provider = partitioning.providers[decision.provider];
    refusal.fused = decision.fused;
    refusal.reason = decision.reason;
    refusal.nodes = decision.nodes;
    std::ranges::sort(refusal.nodes);
    const auto [repeated, end] = std::ranges::unique(refusal.nodes);
    refusal.nodes.erase(repeated, end);
    std::erase_if(refusal.nodes, [&](NodeId node) { return node >= explanation.nodes.size(); });
    for (const NodeId node : refusal.nodes) explanation.nodes[node].refusals.push_back(index);
  }
}

ExplainedNode explain_node(const Graph& graph, const Partitioning& partitioning, NodeId id) {
  const graph::Node& node = graph.nodes[id];
  ExplainedNode explained;
  explained.node = id;
  explained.name = node.name;
  explained.op = operator_name(node);
  explained.since_version = node.since_version;
  if (const uint32_t owner = partitioning.owner[id]; owner != kUnassigned) {
    explained.provider = partitioning.providers[owner];
  }
  if (const uint32_t partition = partitioning.partition_of[id]; partition != kNoPartition) {
    explained.partition = partitioning.partitions[partition].name;
  }
  return explained;
}

}  // namespace

Explanation explain(const Graph& graph, const Partitioning& partitioning) {
  Explanation explanation;
  explanation.graph_name = graph.name;
  for (const std::string& provider : partitioning.providers) {
    explanation.providers.emplace_back().name = provider;
  }
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    explanation.nodes.push_back(explain_node(graph, partitioning, node));
  }
  summarize_nodes(partitioning, explanation);
  collect_refusals(partitioning, explanation);
  return explanation;
}

std::string to_text(const Explanation& explanation) {
  std::string text = table(explanation) + "\n";
  for (const ProviderSummary& provider : explanation.providers) {
    text += describe_provider(provider) + "\n";
  }
  if (explanation.unassigned_nodes > 0) {
    text += counted(explanation.unassigned_nodes, "node") + " taken by no provider\n";
  }
  for (const Refusal& refusal : explanation.refusals) {
    text += "refused: " + describe_refusal(explanation, refusal) + "\n";
  }
  return text;
}

std::string_view provider_color(uint32_t index) {
  constexpr std::array<std::string_view, 8> kColors = {"#8dd3c7", "#fdb462", "#80b1d3", "#bebada",
                                                       "#b3de69", "#fccde5", "#ffed6f", "#fb8072"};
  return kColors[index % kColors.size()];
}

std::string operator_name(const graph::Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
}

std::string counted(uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string describe_provider(const ProviderSummary& provider) {
  std::string text = printable_line(provider.name) + ": " + counted(provider.kernel_nodes, "node") +
                     " by kernel, " + counted(provider.fused_nodes, "node") + " in " +
                     counted(provider.partitions, "partition");
  if (provider.refused_claims > 0) {
    text += ", " + counted(provider.refused_claims, "claim") + " refused";
  }
  return text;
}

std::string describe_refusal(const Explanation& explanation, const Refusal& refusal) {
  std::string text = printable_line(refusal.provider);
  if (!refusal.nodes.empty()) {
    const ExplainedNode& first = explanation.nodes[refusal.nodes.front()];
    text += refusal.fused ? ", fused claim of " : ", claim of ";
    text += counted(refusal.nodes.size(), "node") + " from #" + std::to_string(first.node) + " " +
            cell(first.op);
  }
  return text + ": " + printable_line(refusal.reason);
}

}  // namespace ephost::partition
