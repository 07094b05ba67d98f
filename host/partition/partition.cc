#include "host/partition/partition.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/partition/boundary.h"
#include "host/partition/contraction.h"
#include "host/partition/names.h"

namespace ephost::partition {

using graph::describe_node;
using graph::kNoNode;
using graph::kNoValue;

namespace {

// For example "Conv (domain ai.onnx, version 11)".
std::string describe_operator(const graph::Node& node) {
  return formatted("{} (domain {}, version {})", node.op_type,
                   node.domain.empty() ? "ai.onnx" : node.domain, node.since_version);
}

// Decides the claims on one graph, one after the other.
class Partitioner {
 public:
  Partitioner(const Graph& graph, std::span<ClaimSource* const> sources,
              const PartitionOptions& options);

  [[nodiscard]] Result<Partitioning> run() &&;

 private:
  using Refusal = std::optional<std::string>;

  [[nodiscard]] Status ask(uint32_t provider);
  void decide(uint32_t provider, Claim claim);
  [[nodiscard]] Refusal check_exclusions(uint32_t provider, const Claim& claim);
  [[nodiscard]] Refusal check_nodes(uint32_t provider, const Claim& claim);
  [[nodiscard]] Refusal place(uint32_t provider, const Claim& claim);
  [[nodiscard]] Refusal fuse(uint32_t provider, const Claim& claim);
  [[nodiscard]] std::string describe_cycle(std::span<const Vertex> cycle) const;
  [[nodiscard]] std::string describe_vertex(Vertex vertex) const;

  const Graph& graph_;
  std::span<ClaimSource* const> sources_;
  const Cancellation& cancellation_;
  Partitioning result_;
  ContractedGraph contracted_;
  BoundaryFinder boundaries_;
  PartitionNamer namer_;
  std::map<std::pair<uint32_t, NodeId>, const Exclusion*> exclusions_;
  std::vector<uint64_t> claimed_in_;  // by node: the last claim that named it
  uint64_t claims_seen_ = 0;
};

Partitioner::Partitioner(const Graph& graph, std::span<ClaimSource* const> sources,
                         const PartitionOptions& options)
    : graph_(graph),
      sources_(sources),
      cancellation_(options.cancellation),
      contracted_(graph),
      boundaries_(graph),
      namer_(options.name_prefix, options.taken_names),
      claimed_in_(graph.nodes.size(), 0) {
  result_.owner.assign(graph.nodes.size(), kUnassigned);
  result_.partition_of.assign(graph.nodes.size(), kNoPartition);
  for (const ClaimSource* source : sources) {
    result_.providers.emplace_back(source->provider_name());
  }
  for (const Exclusion& exclusion : options.exclusions) {
    for (const NodeId node : exclusion.nodes)
      exclusions_.emplace(std::pair(exclusion.provider, node), &exclusion);
  }
}

Result<Partitioning> Partitioner::run() && {
  for (uint32_t provider = 0; provider < sources_.size(); ++provider) {
    EPHOST_RETURN_IF_ERROR(ask(provider));
  }
  return std::move(result_);
}

Status Partitioner::ask(uint32_t provider) {
  EPHOST_RETURN_IF_ERROR(cancellation_.check());
  Result<std::vector<Claim>> claims = sources_[provider]->claims(graph_, result_.owner);
  if (!claims.ok()) {
    Decision& decision = result_.decisions.emplace_back();
    decision.provider = provider;
    decision.reason = "the provider was skipped, because querying its capability failed: " +
                      claims.status().to_string();
    return Status::ok_status();
  }
  result_.decisions.reserve(result_.decisions.size() + claims->size());
  for (Claim& claim : *claims) {
    EPHOST_RETURN_IF_ERROR(cancellation_.check());
    decide(provider, std::move(claim));
  }
  return Status::ok_status();
}

void Partitioner::decide(uint32_t provider, Claim claim) {
  Decision decision;
  decision.provider = provider;
  decision.fused = claim.fused;
  Refusal refusal = check_exclusions(provider, claim);
  if (!refusal) refusal = check_nodes(provider, claim);
  if (!refusal) refusal = claim.fused ? fuse(provider, claim) : place(provider, claim);
  decision.accepted = !refusal;
  if (refusal) {
    decision.reason = *std::move(refusal);
  } else if (claim.fused) {
    decision.partition = static_cast<uint32_t>(result_.partitions.size() - 1);
  }
  decision.nodes = std::move(claim.nodes);
  result_.decisions.push_back(std::move(decision));
}

Partitioner::Refusal Partitioner::check_exclusions(uint32_t provider, const Claim& claim) {
  for (const NodeId node : claim.nodes) {
    const auto exclusion = exclusions_.find({provider, node});
    if (exclusion == exclusions_.end()) continue;
    if (claim.fused) {
      static_cast<void>(namer_.name(claim.name, sources_[provider]->short_name()));
    }
    return formatted("{} is not offered to this provider again: {}", describe_node(graph_, node),
                     exclusion->second->reason);
  }
  return std::nullopt;
}

Partitioner::Refusal Partitioner::check_nodes(uint32_t provider, const Claim& claim) {
  ++claims_seen_;
  if (claim.nodes.empty()) return "the claim does not name a node";
  if (!claim.fused && claim.nodes.size() != 1) {
    return formatted("a claim that is not fused must name exactly one node, but this one names {}",
                     claim.nodes.size());
  }
  for (const NodeId node : claim.nodes) {
    if (node >= graph_.nodes.size()) {
      return formatted("node id {} does not exist, the graph has {} nodes", node,
                       graph_.nodes.size());
    }
    if (claimed_in_[node] == claims_seen_) {
      return describe_node(graph_, node) + " occurs twice in the claim";
    }
    claimed_in_[node] = claims_seen_;
    if (const uint32_t owner = result_.owner[node]; owner != kUnassigned) {
      return formatted(
          "{} is already taken by {}", describe_node(graph_, node),
          owner == provider ? "an earlier claim of the same provider" : result_.providers[owner]);
    }
  }
  return std::nullopt;
}

Partitioner::Refusal Partitioner::place(uint32_t provider, const Claim& claim) {
  const NodeId node = claim.nodes.front();
  if (!sources_[provider]->has_kernel(graph_, node)) {
    return formatted("the provider claims {} but has no kernel for {}", describe_node(graph_, node),
                     describe_operator(graph_.nodes[node]));
  }
  result_.owner[node] = provider;
  return std::nullopt;
}

Partitioner::Refusal Partitioner::fuse(uint32_t provider, const Claim& claim) {
  if (const auto cycle = contracted_.contract(claim.nodes); !cycle.empty()) {
    return describe_cycle(cycle);
  }
  const auto index = static_cast<uint32_t>(result_.partitions.size());
  Partition& partition = result_.partitions.emplace_back();
  partition.provider = provider;
  partition.name = namer_.name(claim.name, sources_[provider]->short_name());
  partition.nodes = claim.nodes;
  std::ranges::sort(partition.nodes);
  partition.drop_constants = claim.drop_constants;
  partition.token = claim.token;
  for (const NodeId node : partition.nodes) {
    result_.owner[node] = provider;
    result_.partition_of[node] = index;
  }
  boundaries_.find(result_.partition_of, index, partition);
  return std::nullopt;
}

std::string Partitioner::describe_cycle(std::span<const Vertex> cycle) const {
  constexpr size_t kShown = 3;  // at each end of a long path
  std::string text = "fusing these nodes would make a cycle: ";
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (i > 0) text += " -> ";
    if (i == kShown && cycle.size() > 2 * kShown + 1) {
      const size_t left_out = cycle.size() - 2 * kShown;
      text += formatted("({} more)", left_out);
      i += left_out - 1;
      continue;
    }
    text += describe_vertex(cycle[i]);
  }
  return text + "; the claim contains both ends of this path but not the nodes between them";
}

std::string Partitioner::describe_vertex(Vertex vertex) const {
  if (vertex < graph_.nodes.size()) return describe_node(graph_, vertex);
  const Partition& partition = result_.partitions[vertex - graph_.nodes.size()];
  return formatted("partition {} of {}", quote(partition.name),
                   result_.providers[partition.provider]);
}

Status check_sorted(const Graph& graph) {
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    const auto is_produced_later = [&](ValueId value) {
      return value != kNoValue && graph.values[value].producer != kNoNode &&
             graph.values[value].producer >= node;
    };
    const graph::Node& n = graph.nodes[node];
    if (std::ranges::any_of(n.inputs, is_produced_later) ||
        std::ranges::any_of(n.implicit_inputs, is_produced_later)) {
      return {StatusCode::kInvalidArgument,
              formatted("cannot partition graph {}: {} reads the output of a later node; sort the "
                        "graph topologically first",
                        quote(graph.name), describe_node(graph, node))};
    }
  }
  return Status::ok_status();
}

}  // namespace

Result<Partitioning> partition_graph(const Graph& graph, std::span<ClaimSource* const> sources,
                                     const PartitionOptions& options) {
  EPHOST_RETURN_IF_ERROR(check_sorted(graph));
  return Partitioner(graph, sources, options).run();
}

Status check_cover(const Graph& graph, const Partitioning& partitioning) {
  constexpr size_t kShown = 3;
  std::string nodes;
  size_t missing = 0;
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    if (partitioning.owner[node] != kUnassigned) continue;
    if (++missing > kShown) continue;
    nodes += formatted("{}{} of {}", missing > 1 ? "; " : "", describe_operator(graph.nodes[node]),
                       describe_node(graph, node));
  }
  if (missing == 0) return Status::ok_status();
  if (missing > kShown) nodes += formatted("; and {} more", missing - kShown);
  const std::string asked =
      partitioning.providers.empty() ? "none" : join(partitioning.providers, ", ");
  return {
      StatusCode::kNotImplemented,
      formatted("no provider takes {}; providers asked: {}; select a provider that supports these "
                "operators, or look at the refused claims with `ephost partition --explain`",
                nodes, asked)};
}

}  // namespace ephost::partition
