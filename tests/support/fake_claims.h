// fake_claims.h: the answers of get_capability: keeps every claim and every reason.
#pragma once

#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ephost::test {

class FakeClaims : public eph_claims {
 public:
  // `with_kernel` are the nodes for which has_kernel returns 1.
  explicit FakeClaims(std::vector<uint32_t> with_kernel = {})
      : eph_claims{&kApi}, with_kernel_(std::move(with_kernel)) {}
  std::vector<uint32_t> nodes;  // claimed one by one
  std::vector<std::vector<uint32_t>> fused;
  std::vector<uint32_t> flags;   // of each fused claim
  std::vector<uint64_t> tokens;  // likewise
  std::map<uint32_t, std::string> declined;

 private:
  static FakeClaims& self(eph_claims* claims) { return static_cast<FakeClaims&>(*claims); }
  static int32_t claim_node(eph_claims* claims, uint32_t node, eph_error*) noexcept {
    self(claims).nodes.push_back(node);
    return EPH_OK;
  }
  static int32_t claim_fused(eph_claims* claims, const eph_fused_claim* claim,
                             eph_error*) noexcept {
    self(claims).fused.emplace_back(claim->nodes, claim->nodes + claim->node_count);
    self(claims).flags.push_back(claim->flags);
    self(claims).tokens.push_back(claim->token);
    return EPH_OK;
  }
  static int32_t has_kernel(eph_claims* claims, uint32_t node) noexcept {
    const std::vector<uint32_t>& known = self(claims).with_kernel_;
    return std::find(known.begin(), known.end(), node) == known.end() ? 0 : 1;
  }
  static void decline(eph_claims* claims, uint32_t node, eph_string reason) noexcept {
    self(claims).declined[node] = eph::view(reason);
  }
  static constexpr eph_claims_api kApi = {sizeof(eph_claims_api), &claim_node, &claim_fused,
                                          &has_kernel, &decline};

  std::vector<uint32_t> with_kernel_;
};

}  // namespace ephost::test
