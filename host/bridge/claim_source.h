// A provider as the partitioner asks it. Also keeps what the provider declined, for explanations.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "host/bridge/provider.h"
#include "host/partition/partition.h"

namespace ephost::bridge {

class ProviderClaims : public partition::ClaimSource {
 public:
  // Everything is borrowed. With `cached` given, the graph belongs to a context model: these nodes
  // (EPContext nodes of the provider's own sources, ascending) are placed as they are, and what it
  // would fuse besides is left out.
  ProviderClaims(Provider& provider, const graph::Model& model,
                 const std::vector<graph::NodeId>* cached = nullptr)
      : provider_(provider), model_(model), cached_(cached) {}

  [[nodiscard]] std::string_view provider_name() const override { return provider_.name(); }
  [[nodiscard]] std::string_view short_name() const override { return provider_.short_name(); }
  [[nodiscard]] Result<std::vector<partition::Claim>> claims(
      const graph::Graph& graph, std::span<const uint32_t> owner) override;
  [[nodiscard]] bool has_kernel(const graph::Graph& graph, graph::NodeId node) override;

  [[nodiscard]] const std::vector<Decline>& declines() const { return declines_; }
  // What the last question failed with, if it did: then the provider gets nothing.
  [[nodiscard]] const Status& failure() const { return failure_; }

 private:
  Provider& provider_;
  const graph::Model& model_;
  const std::vector<graph::NodeId>* cached_;
  std::vector<Decline> declines_;
  Status failure_;
};

}  // namespace ephost::bridge
