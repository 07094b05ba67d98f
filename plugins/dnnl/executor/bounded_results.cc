#include "plugins/dnnl/executor/bounded_results.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>

#include "plugins/dnnl/executor/exact/exact_kernels.h"
#include "plugins/dnnl/executor/for_blocks.h"

namespace ephost_dnnl {
namespace {

using Limits = std::numeric_limits<float>;

}  // namespace

std::optional<float> bounded_result(const Op& op, ElementType output) {
  if (output != ElementType::kF32 || !op.post_ops.empty()) return std::nullopt;
  const auto* pooling = get_if<Pooling>(op);
  if (pooling != nullptr && pooling->kind == PoolingKind::kMax) return Limits::lowest();
  const auto* reduction = get_if<Reduction>(op);
  if (reduction == nullptr) return std::nullopt;
  if (reduction->kind == ReductionKind::kMax) return Limits::lowest();
  if (reduction->kind == ReductionKind::kMin) return Limits::max();
  return std::nullopt;
}

bool hides_bounded_maximum(const Eltwise& post_op) {
  const std::array<float, 2> from = {-Limits::infinity(), Limits::lowest()};
  std::array<float, 2> to = {};
  compute_exactly(post_op, from.data(), 2, to.data());
  return to[0] == to[1];
}

bool has_element(const void* floats, std::size_t count, float number) {
  uint32_t wanted = 0;
  std::memcpy(&wanted, &number, sizeof(wanted));
  std::atomic<bool> found{false};
  for_blocks(static_cast<int64_t>(count), [&](int64_t first, int64_t length) {
    const auto* const bits = static_cast<const uint32_t*>(floats) + first;
    uint32_t matches = 0;
    for (int64_t i = 0; i < length; ++i) matches |= static_cast<uint32_t>(bits[i] == wanted);
    if (matches != 0) found.store(true, std::memory_order_relaxed);
  });
  return found;
}

}  // namespace ephost_dnnl
