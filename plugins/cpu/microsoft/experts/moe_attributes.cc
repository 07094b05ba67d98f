#include "plugins/cpu/microsoft/experts/moe_attributes.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ephost_cpu {
namespace {

constexpr std::array<std::string_view, 5> kExpertActivations = {"relu", "gelu", "silu", "identity",
                                                                "swiglu"};

}  // namespace

std::string MoEAttributes::read(const eph::NodeView& node, MoEAttributes& attributes) {
  const std::string_view name = node.get_string("activation_type", "relu");
  const auto* const known = std::find(kExpertActivations.begin(), kExpertActivations.end(), name);
  if (known == kExpertActivations.end()) {
    return "activation_type '" + std::string(name) + "' is not supported";
  }
  attributes.activation = static_cast<ExpertActivation>(known - kExpertActivations.begin());
  attributes.k = node.get_int("k", 1);
  if (attributes.k < 1) return "attribute k=" + std::to_string(attributes.k) + " is not positive";
  const int64_t fusion = node.get_int("swiglu_fusion", 0);
  if (fusion < 0 || fusion > 2) {
    return "attribute swiglu_fusion=" + std::to_string(fusion) + " is neither 0, 1 nor 2";
  }
  attributes.fusion = static_cast<Fusion>(fusion);
  if (node.get_int("use_sparse_mixer", 0) != 0) return "use_sparse_mixer is not supported";
  attributes.normalizes = node.get_int("normalize_routing_weights", 0) != 0;
  attributes.alpha = node.get_float("activation_alpha", 1);
  attributes.beta = node.get_float("activation_beta", 0);
  attributes.limit = node.get_float("swiglu_limit", attributes.limit);
  return {};
}

}  // namespace ephost_cpu
