// workspace_plan.h: placement of buffers with known lifetimes in one block so that no two live ones
// overlap. Pure data in, pure data out.
#pragma once

#include <cstdint>
#include <vector>

namespace ephost_dnnl {

inline constexpr uint64_t kBufferAlignment = 64;

// The least multiple of the alignment that is not below `offset`.
[[nodiscard]] constexpr uint64_t aligned(uint64_t offset, uint64_t alignment = kBufferAlignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Alive from step `first` to step `last`, both inclusive.
struct BufferLifetime {
  uint64_t size = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};

struct WorkspacePlan {
  std::vector<uint64_t> offsets;  // one for each buffer, multiples of kBufferAlignment
  uint64_t size = 0;
};

// Largest buffers first, each at the lowest offset that is free while it lives.
[[nodiscard]] WorkspacePlan plan_workspace(const std::vector<BufferLifetime>& buffers);

}  // namespace ephost_dnnl
