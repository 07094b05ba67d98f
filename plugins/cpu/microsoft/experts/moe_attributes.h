// The attributes that MoE and QMoE share.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "plugins/cpu/core/kernel.h"

namespace ephost_cpu {

enum class ExpertActivation : uint8_t { kRelu, kGelu, kSilu, kIdentity, kSwiGlu };
// Where the gate and what it lets through come from.
enum class Fusion : int64_t { kNone = 0, kInterleaved = 1, kConcatenated = 2 };

struct MoEAttributes {
  // Or why they are not supported.
  static std::string read(const eph::NodeView& node, MoEAttributes& attributes);

  int64_t k = 1;
  ExpertActivation activation = ExpertActivation::kRelu;
  Fusion fusion = Fusion::kNone;
  bool normalizes = false;
  float alpha = 1, beta = 0, limit = std::numeric_limits<float>::infinity();

  [[nodiscard]] bool is_fused() const {
    return activation == ExpertActivation::kSwiGlu && fusion != Fusion::kNone;
  }
};

}  // namespace ephost_cpu
