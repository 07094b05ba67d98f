#include "host/bridge/collect/claim_collector.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "host/bridge/abi_text.h"
#include "host/bridge/callback.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {

const eph_claims_api ClaimCollector::kApi = {sizeof(eph_claims_api), &ClaimCollector::claim_node,
                                             &ClaimCollector::claim_fused,
                                             &ClaimCollector::has_kernel, &ClaimCollector::decline};

ClaimCollector::ClaimCollector(std::string_view provider, const graph::Graph& graph,
                               const KernelIndex& kernels)
    : eph_claims{&kApi}, provider_(provider), graph_(graph), kernels_(kernels) {}

int32_t ClaimCollector::claim_node(eph_claims* handle, uint32_t node, eph_error* error) noexcept {
  return run_callback(error, [&] {
    self(handle).collected_.claims.push_back({{node}, false, {}, false});
    return Status::ok_status();
  });
}

int32_t ClaimCollector::claim_fused(eph_claims* handle, const eph_fused_claim* given,
                                    eph_error* error) noexcept {
  return run_callback(error, [&]() -> Status {
    ClaimCollector& collector = self(handle);
    const plugin::CallSite site{collector.provider_, "claim_fused"};
    EPHOST_ASSIGN_OR_RETURN(const auto claim, plugin::adopt<eph_fused_claim>(given, site));
    EPHOST_ASSIGN_OR_RETURN(
        auto nodes, plugin::adopt_array(claim.nodes, claim.node_count, UINT64_MAX, site, "nodes"));
    // A claim with more nodes than the graph repeats some: one node too many is enough for the
    // partitioner to say so.
    nodes = nodes.first(std::min(nodes.size(), collector.graph_.nodes.size() + 1));
    collector.collected_.claims.push_back({{nodes.begin(), nodes.end()},
                                           true,
                                           std::string(view(claim.name)),
                                           (claim.flags & EPH_CLAIM_DROP_CONSTANTS) != 0,
                                           claim.token});
    return Status::ok_status();
  });
}

int32_t ClaimCollector::has_kernel(eph_claims* handle, uint32_t node) noexcept {
  const ClaimCollector& collector = self(handle);
  if (node >= collector.graph_.nodes.size()) return 0;
  return collector.kernels_.fits(collector.graph_, collector.graph_.nodes[node]) ? 1 : 0;
}

void ClaimCollector::decline(eph_claims* handle, uint32_t node, eph_string reason) noexcept {
  ClaimCollector& collector = self(handle);
  if (node >= collector.graph_.nodes.size()) return;
  (void)run_callback(nullptr, [&] {  // out of memory: the reason is lost
    collector.collected_.declines.push_back({node, std::string(view(reason))});
    return Status::ok_status();
  });
}

Capability capability_of_kernels(const graph::Graph& graph, const KernelIndex& kernels,
                                 std::span<const uint32_t> owner) {
  Capability capability;
  capability.claims.reserve(graph.nodes.size());
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (!owner.empty() && owner[id] != partition::kUnassigned) continue;
    if (kernels.fits(graph, graph.nodes[id])) {
      capability.claims.push_back({{id}, false, {}, false});
    } else {
      capability.declines.push_back({id, kernels.why_not(graph, graph.nodes[id])});
    }
  }
  return capability;
}

void explain_missing_kernels(const graph::Graph& graph, const KernelIndex& kernels,
                             std::span<const uint32_t> owner, Capability& capability) {
  if (kernels.kernels().empty()) return;
  std::vector<bool> is_answered(graph.nodes.size(), false);
  for (const partition::Claim& claim : capability.claims) {
    for (const graph::NodeId id : claim.nodes) {
      if (id < is_answered.size()) is_answered[id] = true;
    }
  }
  for (const Decline& decline : capability.declines) is_answered[decline.node] = true;
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (is_answered[id] || (!owner.empty() && owner[id] != partition::kUnassigned)) continue;
    std::string reason = kernels.why_not(graph, graph.nodes[id]);
    if (!reason.empty()) capability.declines.push_back({id, std::move(reason)});
  }
}

}  // namespace ephost::bridge
