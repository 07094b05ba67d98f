#include "host/runtime/device_memory.h"

#include <utility>

namespace ephost::runtime {
Status DeviceArena::reserve(uint64_t bytes) {
  if (bytes <= block_.size()) return Status::ok_status();
  block_ = {};
  EPHOST_ASSIGN_OR_RETURN(block_, bridge::DeviceBlock::allocate(
                                      location_.memory, bytes, "the block of intermediate values"));
  return Status::ok_status();
}

Result<std::byte*> DeviceArena::workspace(uint32_t step, uint64_t bytes) {
  bridge::DeviceBlock& block = workspaces_[step];
  if (block.data() == nullptr) {
    EPHOST_ASSIGN_OR_RETURN(block,
                            bridge::DeviceBlock::allocate(location_.memory, bytes, "a workspace"));
  }
  return block.data();
}

Result<std::byte*> DeviceArena::take(uint64_t bytes, uint32_t stream, std::string_view what) {
  const uint64_t needed = pooled_size(bytes);
  BlockPool<bridge::DeviceBlock>& pool = pools_[stream];
  if (std::byte* const memory = pool.reuse(needed)) return memory;
  EPHOST_ASSIGN_OR_RETURN(bridge::DeviceBlock block,
                          bridge::DeviceBlock::allocate(location_.memory, needed, what));
  return pool.add(std::move(block), needed);
}

void DeviceArena::give_back(const std::byte* memory) {
  for (auto& [stream, pool] : pools_) pool.give_back(memory);
}

void DeviceArena::end_run() {
  for (auto& [stream, pool] : pools_) pool.end_run();
}

}  // namespace ephost::runtime
