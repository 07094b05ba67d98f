#include <algorithm>
#include <array>
#include <vector>

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/cli/report/output.h"
#include "host/cli/report/partitioning/partitioning.h"

namespace ephost::cli {
namespace {

// Text for one cell of a table: long names are cut.
std::string cell(std::string_view text) {
  constexpr size_t kWidest = 60;
  if (text.size() <= kWidest) return printable_line(text);
  // A cut must not leave half of a UTF-8 sequence.
  size_t end = kWidest;
  while (end > kWidest - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return printable_line(text.substr(0, end)) + "...";
}

constexpr size_t kColumns = 6;
using Cells = std::array<std::string, kColumns>;

Cells cells_of(const GraphPartitioning& graph, const PartitionedNode& node) {
  std::string refused;
  if (!node.refusals.empty()) {
    refused = cell(graph.refused_claims[node.refusals.front()].provider);
    if (node.refusals.size() > 1) refused += formatted(" +{}", node.refusals.size() - 1);
  }
  return {std::to_string(node.id),
          cell(node.name.empty() ? "-" : node.name),
          cell(node.op),
          cell(node.provider.empty() ? "(none)" : node.provider),
          cell(node.partition.empty() ? "-" : node.partition),
          refused.empty() ? "-" : refused};
}

std::string node_table(const GraphPartitioning& graph) {
  std::vector<Cells> rows = {{"node", "name", "operator", "provider", "partition", "refused to"}};
  for (const PartitionedNode& node : graph.nodes) rows.push_back(cells_of(graph, node));
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

}  // namespace

std::string explanation_text(const GraphPartitioning& graph) {
  std::string text = node_table(graph) + "\n";
  for (const PartitioningSummary& provider : graph.providers) {
    text += describe_provider(provider) + "\n";
  }
  if (graph.unassigned_nodes > 0) {
    text += formatted("{} taken by no provider\n", counted(graph.unassigned_nodes, "node"));
  }
  for (const RefusedClaim& refusal : graph.refused_claims) {
    text += formatted("refused: {}\n", describe_refusal(graph, refusal));
  }
  for (const DeclinedNode& declined : graph.declined_nodes) {
    text += formatted("declined: {}, #{} {}: {}\n", declined.provider, declined.node,
                      graph.nodes[declined.node].description, printable(declined.reason));
  }
  return text;
}

std::string_view provider_color(const GraphPartitioning& graph, std::string_view provider) {
  constexpr std::array<std::string_view, 8> kColors = {"#8dd3c7", "#fdb462", "#80b1d3", "#bebada",
                                                       "#b3de69", "#fccde5", "#ffed6f", "#fb8072"};
  const auto found = std::ranges::find(graph.providers, provider, &PartitioningSummary::provider);
  if (found == graph.providers.end()) return kUnassignedColor;
  return kColors[static_cast<size_t>(found - graph.providers.begin()) % kColors.size()];
}

std::string describe_provider(const PartitioningSummary& provider) {
  std::string text =
      formatted("{}: {} by kernel, {} in {}", printable_line(provider.provider),
                counted(provider.kernel_nodes, "node"), counted(provider.fused_nodes, "node"),
                counted(provider.partitions, "partition"));
  if (provider.refused_claims > 0) {
    text += formatted(", {} refused", counted(provider.refused_claims, "claim"));
  }
  return text;
}

std::string describe_refusal(const GraphPartitioning& graph, const RefusedClaim& refusal) {
  std::string text = printable_line(refusal.provider);
  if (!refusal.nodes.empty()) {
    const PartitionedNode& first = graph.nodes[refusal.nodes.front()];
    text += formatted(", {} of {} from #{} {}", refusal.fused ? "fused claim" : "claim",
                      counted(refusal.nodes.size(), "node"), first.id, cell(first.op));
  }
  return text + ": " + printable_line(refusal.reason);
}

}  // namespace ephost::cli
