// A provider as the partitioner's source of claims. Also keeps what the provider declined, for
// explanations.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/bridge/provider.h"
#include "host/partition/partition.h"

namespace ephost::bridge {

class ProviderClaims : public partition::ClaimSource {
 public:
  // Everything is borrowed. If `cached` is given, the graph belongs to a context model: these nodes
  // (EPContext nodes of the provider's own sources, ascending) are claimed one by one, and the
  // provider's fused claims are dropped.
  ProviderClaims(Provider& provider, std::shared_ptr<const ModelView> model,
                 const std::vector<graph::NodeId>* cached = nullptr)
      : provider_(provider), model_(std::move(model)), cached_(cached) {}

  [[nodiscard]] std::string_view provider_name() const override { return provider_.name(); }
  [[nodiscard]] std::string_view short_name() const override { return provider_.short_name(); }
  [[nodiscard]] Result<std::vector<partition::Claim>> claims(
      const graph::Graph& graph, std::span<const uint32_t> owner) override;
  [[nodiscard]] bool has_kernel(const graph::Graph& graph, graph::NodeId node) override;

  [[nodiscard]] const std::vector<Decline>& declines() const { return declines_; }
  // What the provider would take if extents were fixed, without nodes that others had taken.
  [[nodiscard]] const std::vector<ShapeWish>& shape_wishes() const { return shape_wishes_; }
  // Why its wishes are unknown, if they are.
  [[nodiscard]] const Status& wish_failure() const { return wish_failure_; }
  // Why the last call of `claims` failed, if it did; then the provider gets no node.
  [[nodiscard]] const Status& failure() const { return failure_; }

 private:
  void ask_for_wishes(const GraphView& view, std::span<const uint32_t> owner);

  Provider& provider_;
  std::shared_ptr<const ModelView> model_;
  const std::vector<graph::NodeId>* cached_;
  std::vector<Decline> declines_;
  Status failure_;
  std::vector<ShapeWish> shape_wishes_;
  Status wish_failure_;
};

}  // namespace ephost::bridge
