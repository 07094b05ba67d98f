// Collector of a provider's answers in get_capability: its claims on nodes of a graph, and why it
// declined others.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/bridge/kernel_index.h"
#include "host/partition/partition.h"

namespace ephost::bridge {

// Why a provider left a node alone.
struct Decline {
  graph::NodeId node = graph::kNoNode;
  std::string reason;
};

struct Capability {
  std::vector<partition::Claim> claims;
  std::vector<Decline> declines;
};

// The eph_claims of one get_capability call.
class ClaimCollector : public eph_claims {
 public:
  // Everything is borrowed; `provider` is the provider's name, for messages.
  ClaimCollector(std::string_view provider, const graph::Graph& graph, const KernelIndex& kernels);
  ClaimCollector(const ClaimCollector&) = delete;
  ClaimCollector& operator=(const ClaimCollector&) = delete;

  [[nodiscard]] Capability take() { return std::move(collected_); }

 private:
  static ClaimCollector& self(eph_claims* handle) { return *static_cast<ClaimCollector*>(handle); }
  static int32_t claim_node(eph_claims* handle, uint32_t node, eph_error* error) noexcept;
  static int32_t claim_fused(eph_claims* handle, const eph_fused_claim* given,
                             eph_error* error) noexcept;
  static int32_t has_kernel(eph_claims* handle, uint32_t node) noexcept;
  static void decline(eph_claims* handle, uint32_t node, eph_string reason) noexcept;
  static const eph_claims_api kApi;

  std::string_view provider_;
  const graph::Graph& graph_;
  const KernelIndex& kernels_;
  Capability collected_;
};

// The answer of a provider without a get_capability: every node that one of its kernels fits and
// that has no owner yet (`owner` as in GraphView).
[[nodiscard]] Capability capability_of_kernels(const graph::Graph& graph,
                                               const KernelIndex& kernels,
                                               std::span<const uint32_t> owner);

// Adds why no kernel fits, for nodes without an owner that the answer neither claims nor declines:
// so a provider that has kernels need not tell that itself.
void explain_missing_kernels(const graph::Graph& graph, const KernelIndex& kernels,
                             std::span<const uint32_t> owner, Capability& capability);

}  // namespace ephost::bridge
