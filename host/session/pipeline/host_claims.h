// The host as the last claim source: it takes the control-flow nodes that no provider claims.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "host/graph/graph.h"
#include "host/partition/partition.h"
#include "host/runtime/control_flow/control_flow.h"
#include "host/session/model/node_counts.h"

namespace ephost::session {

class HostClaims : public partition::ClaimSource {
 public:
  // Whether the host can run any node of the graph. If not, it need not be asked.
  [[nodiscard]] static bool may_claim(const graph::Graph& graph) {
    return std::ranges::any_of(graph.nodes, runtime::is_control_flow);
  }

  [[nodiscard]] std::string_view provider_name() const override { return kHostName; }
  [[nodiscard]] Result<std::vector<partition::Claim>> claims(
      const graph::Graph& graph, std::span<const uint32_t> owner) override {
    std::vector<partition::Claim> claims;
    for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
      if (owner[id] != partition::kUnassigned || !has_kernel(graph, id)) continue;
      claims.push_back({{id}, false, {}, false});
    }
    return claims;
  }
  [[nodiscard]] bool has_kernel(const graph::Graph& graph, graph::NodeId node) override {
    return runtime::is_control_flow(graph.nodes[node]);
  }
};

}  // namespace ephost::session
