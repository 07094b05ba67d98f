#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "host/base/text.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/report/page.h"
#include "host/cli/report/partitioning/partitioning.h"
#include "host/cli/report/partitioning/partitioning_groups.h"
#include "host/cli/report/partitioning/partitioning_script.h"

namespace ephost::cli {
namespace {

// What keeps the page below 300 kB at 10 000 nodes. Names of nodes are shortened to what is left.
constexpr size_t kPageBytes = 285'000;
constexpr size_t kBytesPerFurtherNode = 28;
constexpr size_t kMostEdges = 3000;   // between groups
constexpr size_t kMostReasons = 150;  // different ones, of all graphs
constexpr size_t kMostRanges = 6000;  // of nodes, for all reasons of a graph
constexpr size_t kLongestReason = 240;
constexpr size_t kLongestText = 60;   // of other names
constexpr size_t kLongestName = 160;  // of a node

int64_t provider_index(const GraphPartitioning& graph, const std::string& provider) {
  const auto found = std::ranges::find(graph.providers, provider, &PartitioningSummary::provider);
  return found == graph.providers.end() ? -1 : found - graph.providers.begin();
}

// Why a provider does not have some nodes.
struct Reason {
  bool is_refused = false;  // a claim of it; otherwise it has declined the nodes
  std::string provider;
  std::string text;
  std::vector<uint32_t> nodes;  // ascending, unique
};

// The text with an ellipsis for each name that it quotes.
std::string without_names(std::string_view text) {
  std::string rest;
  for (size_t at = 0; at < text.size();) {
    const char mark = text[at];
    const bool opens = mark == '"' || (mark == '\'' && (at == 0 || text[at - 1] == ' '));
    const size_t end = opens ? text.find(mark, at + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      rest += text[at++];
      continue;
    }
    rest += {mark, '\xe2', '\x80', '\xa6', mark};
    at = end + 1;
  }
  return rest;
}

// Reasons that are the same but for names are one without them unless `with_names`.
std::vector<Reason> reasons_of(const GraphPartitioning& graph, bool with_names) {
  std::vector<Reason> reasons;
  std::map<std::tuple<bool, std::string_view, std::string>, size_t> known;
  const auto find = [&](bool is_refused, const std::string& provider,
                        const std::string& given) -> Reason& {
    const std::string text = with_names ? given : without_names(given);
    const auto [found, is_new] = known.try_emplace({is_refused, provider, text}, reasons.size());
    if (is_new) reasons.push_back({is_refused, provider, text, {}});
    return reasons[found->second];
  };
  for (const RefusedClaim& claim : graph.refused_claims) {
    std::vector<uint32_t>& nodes = find(true, claim.provider, claim.reason).nodes;
    nodes.insert(nodes.end(), claim.nodes.begin(), claim.nodes.end());
  }
  for (const DeclinedNode& declined : graph.declined_nodes) {
    find(false, declined.provider, declined.reason).nodes.push_back(declined.node);
  }
  for (Reason& reason : reasons) {
    std::ranges::sort(reason.nodes);
    reason.nodes.erase(std::unique(reason.nodes.begin(), reason.nodes.end()), reason.nodes.end());
  }
  return reasons;
}

// The nodes as pairs of numbers: how many are left out, and how many follow.
std::vector<uint32_t> ranges_of(const std::vector<uint32_t>& nodes) {
  std::vector<uint32_t> pairs;
  uint32_t next = 0;
  for (const uint32_t node : nodes) {
    if (!pairs.empty() && node == next) {
      ++pairs.back();
    } else {
      pairs.insert(pairs.end(), {node - next, 1});
    }
    next = node + 1;
  }
  return pairs;
}

// At most `left` reasons, which becomes fewer, and what is left out of them.
void add_reasons(std::span<const Reason> reasons, size_t& left, Json& json) {
  Json list = Json::array();
  size_t ranges_left = kMostRanges;
  bool has_all_nodes = true;
  for (const Reason& reason : reasons.first(std::min(left, reasons.size()))) {
    std::vector<uint32_t> ranges = ranges_of(reason.nodes);
    if (ranges.size() / 2 > ranges_left) {
      ranges.resize(2 * ranges_left);
      has_all_nodes = false;
    }
    ranges_left -= ranges.size() / 2;
    Json one = Json::array();
    one.push_back(reason.is_refused ? 1 : 0);
    one.push_back(page_text(reason.provider, kLongestText));
    one.push_back(page_text(reason.text, kLongestReason));
    one.push_back(reason.nodes.size());
    one.push_back(Json(ranges));
    list.push_back(std::move(one));
  }
  left -= std::min(left, reasons.size());
  json.set("reasons", std::move(list));
  json.set("reason_count", reasons.size());
  json.set("reasons_have_all_nodes", has_all_nodes);
}

// Pairs of groups, as numbers that are small where the groups are close to each other.
Json edges_json(const NodeGroups& grouped) {
  Json edges = Json::array();
  int64_t before = 0;
  size_t count = 0;
  for (const auto& [edge, values] : grouped.edges) {
    if (++count > kMostEdges) break;
    edges.push_back(int64_t{edge.first} - before);
    edges.push_back(int64_t{edge.second} - int64_t{edge.first});
    before = edge.first;
  }
  return edges;
}

void add_groups(const GraphPartitioning& graph, Json& json) {
  const NodeGroups grouped = group_nodes(graph);
  std::vector<int64_t> providers;
  std::vector<std::string> names;
  for (const NodeGroup& group : grouped.groups) {
    providers.push_back(provider_index(graph, group.provider));
    names.push_back(group.partition);
  }
  std::vector<int64_t> steps;  // from the group of the node before
  int64_t before = 0;
  for (const uint32_t group : grouped.of_node) {
    steps.push_back(group - before);
    before = group;
  }
  json.set("group_providers", Json(run_lengths(providers)));
  json.set("group_names", packed_names(names, kLongestText));
  json.set("groups", Json(run_lengths(steps)));
  json.set("edges", edges_json(grouped));
  json.set("edge_count", grouped.edges.size());
}

// Everything but the reasons and the names of the nodes.
Json graph_section_json(const GraphPartitioning& graph) {
  const std::string title = graph.path.empty() ? "Graph " + graph.name : "Body " + graph.path;
  Json providers = Json::array();
  for (const PartitioningSummary& provider : graph.providers) {
    providers.push_back(Json(std::vector<std::string>{page_text(provider.provider, kLongestText),
                                                      page_text(describe_provider(provider))}));
  }
  Json operators = Json::array();
  std::map<std::pair<std::string_view, int32_t>, int64_t> known;
  std::vector<int64_t> of_node;
  for (const PartitionedNode& node : graph.nodes) {
    const std::pair<std::string_view, int32_t> key(node.op, node.since_version);
    const auto [found, is_new] = known.try_emplace(key, static_cast<int64_t>(known.size()));
    if (is_new) {
      Json one = Json::array();
      one.push_back(page_text(node.op, kLongestText));
      one.push_back(node.since_version);
      operators.push_back(std::move(one));
    }
    of_node.push_back(found->second);
  }
  Json json = {{"title", page_text(title, 2 * kLongestText)},
               {"providers", providers},
               {"unassigned", graph.unassigned_nodes},
               {"operators", operators},
               {"operator", Json(of_node)}};
  add_groups(graph, json);
  return json;
}

Json names_json(const GraphPartitioning& graph, size_t longest) {
  std::vector<std::string> names;
  for (const PartitionedNode& node : graph.nodes) names.push_back(node.name);
  return packed_names(names, longest);
}

// With the names that they quote, unless there are too many then.
std::vector<std::vector<Reason>> all_reasons(std::span<const GraphPartitioning> graphs) {
  std::vector<std::vector<Reason>> all;
  for (const bool with_names : {true, false}) {
    all.clear();
    size_t count = 0;
    for (const GraphPartitioning& graph : graphs) {
      count += all.emplace_back(reasons_of(graph, with_names)).size();
    }
    if (count <= kMostReasons) break;
  }
  return all;
}

}  // namespace

std::string partitioning_page(std::span<const GraphPartitioning> graphs) {
  const std::vector<std::vector<Reason>> reasons = all_reasons(graphs);
  std::vector<Json> parts;
  size_t reasons_left = kMostReasons;
  size_t nodes = 0;
  for (size_t i = 0; i < graphs.size(); ++i) {
    parts.push_back(graph_section_json(graphs[i]));
    add_reasons(reasons[i], reasons_left, parts.back());
    nodes += graphs[i].nodes.size();
  }
  const std::string title = "Partitioning of " + page_text(graphs.front().name, 2 * kLongestText);
  const auto page_with_names = [&](size_t longest) {
    for (size_t i = 0; i < parts.size(); ++i) parts[i].set("names", names_json(graphs[i], longest));
    return make_page(title, {{"graphs", parts}, {"longest", longest}}, kPartitioningScript);
  };
  const size_t limit =
      kPageBytes + kBytesPerFurtherNode * (std::max<size_t>(nodes, 10'000) - 10'000);
  std::string page = page_with_names(kLongestName);
  for (size_t longest = kLongestName; page.size() > limit && longest > 0;) {
    longest = longest * 3 / 4;
    page = page_with_names(longest);
  }
  return page;
}

}  // namespace ephost::cli
