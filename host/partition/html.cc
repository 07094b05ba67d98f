#include <algorithm>

#include "host/base/text.h"
#include "host/partition/explain.h"
#include "host/partition/render.h"

namespace ephost::partition {
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

std::string_view color_of(const Explanation& explanation, std::string_view provider) {
  const auto& providers = explanation.providers;
  const auto found = std::ranges::find(providers, provider, &ProviderSummary::name);
  if (found == providers.end()) return kUnassignedColor;
  return provider_color(static_cast<uint32_t>(found - providers.begin()));
}

std::string key(std::string_view color) {
  return "<span class=\"key\" style=\"background:" + std::string(color) + "\"></span>";
}

std::string legend(const Explanation& explanation) {
  std::string html = "<ul>\n";
  for (const ProviderSummary& provider : explanation.providers) {
    html += "<li>" + key(color_of(explanation, provider.name)) +
            escape_html(describe_provider(provider)) + "</li>\n";
  }
  if (explanation.unassigned_nodes > 0) {
    html += "<li>" + key(kUnassignedColor) + counted(explanation.unassigned_nodes, "node") +
            " taken by no provider</li>\n";
  }
  return html + "</ul>\n";
}

// The nodes in order as one bar, with one piece per run of nodes with the same owner.
std::string strip(const Explanation& explanation) {
  std::string html = "<div class=\"strip\">\n";
  const auto& nodes = explanation.nodes;
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin + 1;
    while (end < nodes.size() && nodes[end].provider == nodes[begin].provider) ++end;
    const std::string& provider = nodes[begin].provider;
    html += "<div title=\"" + escape_html(provider.empty() ? "no provider" : provider) + ", " +
            counted(end - begin, "node") + "\" style=\"flex:" + std::to_string(end - begin) +
            ";background:" + std::string(color_of(explanation, provider)) + "\"></div>\n";
    begin = end;
  }
  return html + "</div>\n";
}

std::string row(const Explanation& explanation, const ExplainedNode& node) {
  constexpr size_t kRefusalsShown = 5;
  std::string html = "<tr><td class=\"number\">" + std::to_string(node.node) + "</td><td>" +
                     escape_html(node.name) + "</td><td>" + escape_html(node.op) +
                     "</td><td class=\"number\">" + std::to_string(node.since_version) +
                     "</td><td>" + key(color_of(explanation, node.provider)) +
                     escape_html(node.provider.empty() ? "none" : node.provider) + "</td><td>" +
                     escape_html(node.partition) + "</td><td class=\"refusal\">";
  for (size_t i = 0; i < std::min(kRefusalsShown, node.refusals.size()); ++i) {
    const Refusal& refusal = explanation.refusals[node.refusals[i]];
    html += "<div>" + escape_html(refusal.provider + ": " + refusal.reason) + "</div>";
  }
  if (node.refusals.size() > kRefusalsShown) {
    html += "<div>and " + std::to_string(node.refusals.size() - kRefusalsShown) + " more</div>";
  }
  return html + "</td></tr>\n";
}

std::string table(const Explanation& explanation) {
  std::string html =
      "<table>\n<thead><tr><th>node</th><th>name</th><th>operator</th><th>version</th>"
      "<th>provider</th><th>partition</th><th>refused claims</th></tr></thead>\n<tbody>\n";
  for (const ExplainedNode& node : explanation.nodes) html += row(explanation, node);
  return html + "</tbody>\n</table>\n";
}

std::string refusals(const Explanation& explanation) {
  if (explanation.refusals.empty()) return {};
  std::string html = "<h2>Refused claims</h2>\n<ol>\n";
  for (const Refusal& refusal : explanation.refusals) {
    html += "<li>" + escape_html(describe_refusal(explanation, refusal)) + "</li>\n";
  }
  return html + "</ol>\n";
}

std::string section(const Explanation& explanation) {
  return legend(explanation) + strip(explanation) + table(explanation) + refusals(explanation);
}

}  // namespace

std::string to_html(const Explanation& explanation, std::span<const Explanation> bodies) {
  const std::string title = "Partitioning of " + escape_html(explanation.graph_name);
  std::string html = std::string(kHead) + "<title>" + title + "</title>\n</head>\n<body>\n<h1>" +
                     title + "</h1>\n" + section(explanation);
  for (const Explanation& body : bodies) {
    html += "<h1>Body " + escape_html(body.graph_name) + "</h1>\n" + section(body);
  }
  return html + "</body>\n</html>\n";
}

}  // namespace ephost::partition
