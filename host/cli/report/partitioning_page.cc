#include <algorithm>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/report/output.h"
#include "host/cli/report/partitioning.h"

namespace ephost::cli {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 14px/1.4 sans-serif; margin: 2em; color: #222; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 2px 12px 2px 6px; border-bottom: 1px solid #ddd; }
th { position: sticky; top: 0; background: #fff; }
td.number { text-align: right; }
.strip { display: flex; height: 24px; margin: 1em 0; }
.key { display: inline-block; width: 1em; height: 1em; margin-right: .5em; vertical-align: -2px; }
.refusal { color: #777; font-size: 12px; }
</style>
)";

std::string key(std::string_view color) {
  return formatted(R"(<span class="key" style="background:{}"></span>)", color);
}

std::string legend(const GraphPartitioning& graph) {
  std::string html = "<ul>\n";
  for (const PartitioningSummary& provider : graph.providers) {
    html += formatted("<li>{}{}</li>\n", key(provider_color(graph, provider.provider)),
                      escape_html(describe_provider(provider)));
  }
  if (graph.unassigned_nodes > 0) {
    html += formatted("<li>{}{} taken by no provider</li>\n", key(kUnassignedColor),
                      counted(graph.unassigned_nodes, "node"));
  }
  return html + "</ul>\n";
}

// The nodes in order as one bar, with one piece per run of nodes with the same owner.
std::string strip(const GraphPartitioning& graph) {
  std::string html = "<div class=\"strip\">\n";
  const auto& nodes = graph.nodes;
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin + 1;
    while (end < nodes.size() && nodes[end].provider == nodes[begin].provider) ++end;
    const std::string& provider = nodes[begin].provider;
    html += formatted("<div title=\"{}, {}\" style=\"flex:{};background:{}\"></div>\n",
                      escape_html(provider.empty() ? "no provider" : provider),
                      counted(end - begin, "node"), end - begin, provider_color(graph, provider));
    begin = end;
  }
  return html + "</div>\n";
}

std::string row(const GraphPartitioning& graph, const PartitionedNode& node) {
  constexpr size_t kRefusalsShown = 5;
  std::string html = formatted(
      R"(<tr><td class="number">{}</td><td>{}</td><td>{}</td><td class="number">{}</td>)"
      R"(<td>{}{}</td><td>{}</td><td class="refusal">)",
      node.id, escape_html(node.name), escape_html(node.op), node.since_version,
      key(provider_color(graph, node.provider)),
      escape_html(node.provider.empty() ? "none" : node.provider), escape_html(node.partition));
  for (size_t i = 0; i < std::min(kRefusalsShown, node.refusals.size()); ++i) {
    const RefusedClaim& refusal = graph.refused_claims[node.refusals[i]];
    html += formatted("<div>{}</div>", escape_html(refusal.provider + ": " + refusal.reason));
  }
  if (node.refusals.size() > kRefusalsShown) {
    html += formatted("<div>and {} more</div>", node.refusals.size() - kRefusalsShown);
  }
  return html + "</td></tr>\n";
}

std::string table(const GraphPartitioning& graph) {
  std::string html =
      "<table>\n<thead><tr><th>node</th><th>name</th><th>operator</th><th>version</th>"
      "<th>provider</th><th>partition</th><th>refused claims</th></tr></thead>\n<tbody>\n";
  for (const PartitionedNode& node : graph.nodes) html += row(graph, node);
  return html + "</tbody>\n</table>\n";
}

std::string refusals(const GraphPartitioning& graph) {
  if (graph.refused_claims.empty()) return {};
  std::string html = "<h2>Refused claims</h2>\n<ol>\n";
  for (const RefusedClaim& refusal : graph.refused_claims) {
    html += formatted("<li>{}</li>\n", escape_html(describe_refusal(graph, refusal)));
  }
  return html + "</ol>\n";
}

std::string section(const GraphPartitioning& graph) {
  return legend(graph) + strip(graph) + table(graph) + refusals(graph);
}

}  // namespace

std::string partitioning_page(std::span<const GraphPartitioning> graphs) {
  const std::string title = "Partitioning of " + escape_html(graphs.front().name);
  std::string html = formatted("{0}<title>{1}</title>\n</head>\n<body>\n<h1>{1}</h1>\n{2}", kHead,
                               title, section(graphs.front()));
  for (const GraphPartitioning& body : graphs.subspan(1)) {
    html += formatted("<h1>Body {}</h1>\n{}", escape_html(body.path), section(body));
  }
  return html + "</body>\n</html>\n";
}

}  // namespace ephost::cli
