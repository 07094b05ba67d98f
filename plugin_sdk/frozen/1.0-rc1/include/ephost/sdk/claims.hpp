// claims.hpp: the answers of get_capability: single nodes, nodes to fuse, and reasons to decline.
#pragma once

#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <string_view>

namespace eph {

class Claims {
 public:
  explicit Claims(eph_claims* claims) : claims_(claims) {}

  void claim_node(uint32_t node) {
    detail::ThrowingError error;
    error.check(claims_->api->claim_node(claims_, node, &error));
  }
  // `token` comes back as eph_partition.token.
  void claim_fused(ArrayView<uint32_t> nodes, std::string_view name = {}, uint32_t flags = 0,
                   uint64_t token = 0) {
    eph_fused_claim claim = {};
    claim.struct_size = sizeof(claim);
    claim.name = to_abi(name);
    claim.nodes = nodes.data();
    claim.node_count = nodes.size();
    claim.flags = flags;
    claim.token = token;
    detail::ThrowingError error;
    error.check(claims_->api->claim_fused(claims_, &claim, &error));
  }
  [[nodiscard]] bool has_kernel(uint32_t node) {
    return claims_->api->has_kernel(claims_, node) != 0;
  }
  void decline(uint32_t node, std::string_view reason) {
    claims_->api->decline(claims_, node, to_abi(reason));
  }

 private:
  eph_claims* claims_;
};

}  // namespace eph
