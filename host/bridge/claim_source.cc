#include "host/bridge/claim_source.h"

#include <algorithm>
#include <utility>

namespace ephost::bridge {

Result<std::vector<partition::Claim>> ProviderClaims::claims(const graph::Graph& graph,
                                                             std::span<const uint32_t> owner) {
  const GraphView view(graph, model_, GraphView::role_of(graph, model_->model()), owner);
  Result<Capability> capability = provider_.capability(view, owner);
  failure_ = capability.status();
  if (!capability.ok()) return failure_;
  declines_ = std::move(capability->declines);
  ask_for_wishes(view, owner);
  std::vector<partition::Claim>& claims = capability->claims;
  if (cached_ == nullptr) return std::move(claims);
  std::erase_if(claims, [](const partition::Claim& claim) { return claim.fused; });
  for (const graph::NodeId node : *cached_) claims.push_back({{node}, false, {}, false});
  return std::move(claims);
}

void ProviderClaims::ask_for_wishes(const GraphView& view, std::span<const uint32_t> owner) {
  shape_wishes_.clear();
  Result<std::vector<ShapeWish>> wishes = provider_.shape_wishes(view, model_->model());
  wish_failure_ = wishes.status();
  if (!wishes.ok()) return;
  for (ShapeWish& wish : *wishes) {
    std::erase_if(wish.nodes, [&](graph::NodeId node) {
      return !owner.empty() && owner[node] != partition::kUnassigned;
    });
    if (!wish.nodes.empty()) shape_wishes_.push_back(std::move(wish));
  }
}

bool ProviderClaims::has_kernel(const graph::Graph& graph, graph::NodeId node) {
  const bool is_cached =
      cached_ != nullptr && std::binary_search(cached_->begin(), cached_->end(), node);
  return is_cached || provider_.kernels().fits(graph, graph.nodes[node]);
}

}  // namespace ephost::bridge
