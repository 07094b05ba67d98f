#include "plugins/dnnl/executor/workspace_plan.h"

#include <algorithm>
#include <numeric>

namespace ephost_dnnl {
namespace {

bool overlap(const BufferLifetime& a, const BufferLifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

WorkspacePlan plan_workspace(const std::vector<BufferLifetime>& buffers) {
  WorkspacePlan plan;
  plan.offsets.resize(buffers.size(), 0);
  std::vector<uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return buffers[a].size > buffers[b].size; });

  std::vector<uint32_t> placed;  // by ascending offset
  for (const uint32_t buffer : order) {
    uint64_t offset = 0;
    for (const uint32_t other : placed) {
      if (!overlap(buffers[buffer], buffers[other])) continue;
      if (offset + aligned(buffers[buffer].size) <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + aligned(buffers[other].size));
    }
    plan.offsets[buffer] = offset;
    plan.size = std::max(plan.size, offset + aligned(buffers[buffer].size));
    const auto position = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [&](uint64_t value, uint32_t other) { return value < plan.offsets[other]; });
    placed.insert(position, buffer);
  }
  return plan;
}

}  // namespace ephost_dnnl
