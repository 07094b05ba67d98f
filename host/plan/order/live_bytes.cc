#include "host/plan/order/live_bytes.h"

namespace ephost::plan {
namespace {

uint64_t block_aligned(uint64_t bytes) {
  return (bytes + kDefaultAlignment - 1) / kDefaultAlignment * kDefaultAlignment;
}

}  // namespace

LiveBytes find_live_bytes(std::span<const ValuePlan> values, std::span<const BufferPlan> buffers,
                          std::span<const Workspace> workspaces, size_t steps,
                          std::span<const std::optional<uint64_t>> sizes) {
  // The changes at each step; unsigned sums wrap around and back.
  std::map<uint32_t, std::vector<uint64_t>> changes;
  const auto add = [&](uint32_t location, uint32_t first, uint32_t last, uint64_t bytes) {
    std::vector<uint64_t>& change = changes[location];
    change.resize(steps + 1);
    change[first] += block_aligned(bytes);
    change[last + 1] -= block_aligned(bytes);
  };
  for (const BufferPlan& buffer : buffers) {
    if (values[buffer.root].kind != AllocKind::kAllocate) continue;
    const std::optional<uint64_t>& bytes = sizes.empty() ? buffer.bytes : sizes[buffer.root];
    if (bytes) add(buffer.location, buffer.first_pc, buffer.last_pc, *bytes);
  }
  for (const Workspace& workspace : workspaces) {
    add(workspace.location, workspace.pc, workspace.pc, workspace.bytes);
  }
  LiveBytes live;
  for (const auto& [location, change] : changes) {
    LivePeak& peak = live.peaks[location];
    uint64_t sum = 0;
    for (uint32_t pc = 0; pc < steps; ++pc) {
      sum += change[pc];
      if (sum > peak.bytes) peak = {sum, pc};
    }
  }
  return live;
}

}  // namespace ephost::plan
