#include "host/conformance/claims/asked.h"

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "host/api/handles.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/claim_source.h"
#include "host/bridge/model_view.h"
#include "host/conformance/random/numbers/dice.h"
#include "host/session/creation/pipeline.h"

namespace ephost::conformance {
namespace {

using graph::Graph;
using graph::NodeId;

// Whether a path leaves the nodes and comes back to them.
bool is_left_and_entered_again(const Graph& graph, const std::set<NodeId>& nodes) {
  // Outside of the claim, and reached from it. Nodes are in topological order.
  std::vector<bool> is_behind(graph.nodes.size());
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    bool reads_behind = false;
    bool reads_claimed = false;
    const auto look = [&](graph::ValueId value) {
      if (value == graph::kNoValue) return;
      const NodeId producer = graph.values[value].producer;
      if (producer == graph::kNoNode) return;
      reads_behind = reads_behind || is_behind[producer];
      reads_claimed = reads_claimed || nodes.contains(producer);
    };
    std::ranges::for_each(graph.nodes[n].inputs, look);
    std::ranges::for_each(graph.nodes[n].implicit_inputs, look);
    if (nodes.contains(n)) {
      if (reads_behind) return true;
    } else {
      is_behind[n] = reads_behind || reads_claimed;
    }
  }
  return false;
}

}  // namespace

Result<Asked> ask(const Bench& bench, const std::string& model, const SessionOptions& options) {
  session::ModelSource source;
  source.bytes = std::as_bytes(std::span(model));
  session::PipelineHooks hooks;
  hooks.runs = true;
  Asked asked;
  EPHOST_ASSIGN_OR_RETURN(
      asked.prepared,
      session::prepare_model(*bench.environment().handle()->state, source,
                             options.handle()->options, session::Stage::kPartitioned, hooks));
  const auto provider = std::ranges::find_if(asked.prepared.providers, [&](const auto& one) {
    return one->short_name() == bench.plugin().name;
  });
  if (provider == asked.prepared.providers.end()) {
    return Status(StatusCode::kNotFound, "the session does not have the provider");
  }
  bridge::ProviderClaims claims(**provider,
                                std::make_shared<const bridge::ModelView>(asked.prepared.model));
  const Graph& graph = asked.prepared.model.graph;
  const std::vector<uint32_t> unassigned(graph.nodes.size(), partition::kUnassigned);
  const auto begin = std::chrono::steady_clock::now();
  EPHOST_ASSIGN_OR_RETURN(asked.claims, claims.claims(graph, unassigned));
  asked.time = std::chrono::steady_clock::now() - begin;
  EPHOST_RETURN_IF_ERROR(claims.failure());
  return asked;
}

std::string fingerprint(const Asked& asked, const Names& names, bool with_partition_names) {
  const Graph& graph = asked.prepared.model.graph;
  std::multiset<std::string> claims;
  for (const partition::Claim& claim : asked.claims) {
    std::set<std::string> nodes;
    for (const NodeId node : claim.nodes) {
      if (node >= graph.nodes.size()) continue;
      const std::vector<graph::ValueId>& outputs = graph.nodes[node].outputs;
      const auto first = std::ranges::find_if(
          outputs, [](graph::ValueId value) { return value != graph::kNoValue; });
      if (first == outputs.end()) continue;
      const std::string& output = graph.values[*first].name;
      const auto original = names.find(output);
      nodes.insert(original == names.end() ? output : original->second);
    }
    std::string text = join(std::vector<std::string>(nodes.begin(), nodes.end()), ",");
    if (claim.fused) text = "{" + text + "}";
    if (with_partition_names) text += "=" + claim.name;
    claims.insert(std::move(text));
  }
  return join(std::vector<std::string>(claims.begin(), claims.end()), " ");
}

std::string defect_of(const Graph& graph, const partition::Claim& claim) {
  if (claim.nodes.empty()) return "it names no node";
  std::set<NodeId> nodes;
  for (const NodeId node : claim.nodes) {
    if (node >= graph.nodes.size()) {
      return formatted("it names node {} of {}", node, graph.nodes.size());
    }
    if (!nodes.insert(node).second) {
      return formatted("it names {} twice", graph::describe_node(graph, node));
    }
  }
  return is_left_and_entered_again(graph, nodes) ? "a path leaves its nodes and comes back to them"
                                                 : "";
}

Disturbance::Disturbance(uint64_t seed) {
  Dice dice(formatted("disturbance {}", seed));
  for (int i = 0; i < 2000; ++i) {
    blocks_.emplace_back(static_cast<size_t>(dice.roll(1, dice.one_in(10) ? 20'000 : 600)));
  }
  // Holes of all sizes, in which later allocations land.
  std::erase_if(blocks_, [&](const auto&) { return dice.one_in(2); });
}

}  // namespace ephost::conformance
