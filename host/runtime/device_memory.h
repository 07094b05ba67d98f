// Memory of devices for frames: blocks for intermediate values. Only the provider reads or writes
// it.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "host/bridge/extensions/device.h"
#include "host/runtime/memory_pool.h"

namespace ephost::runtime {

// A location other than host memory: location n is entry n-1 of a program's devices.
struct DeviceLocation {
  bridge::DeviceMemory memory;
  uint32_t number = 0;  // by which the provider knows it
};

// The memory of a frame in one location. Not thread-safe.
class DeviceArena {
 public:
  explicit DeviceArena(DeviceLocation location) : location_(std::move(location)) {}

  // Makes the block for the memory pattern at least `bytes` large. It moves if it grows.
  [[nodiscard]] Status reserve(uint64_t bytes);
  [[nodiscard]] std::byte* block() const { return block_.data(); }

  // The workspace of a step that the pattern does not place; kept as long as the arena.
  [[nodiscard]] Result<std::byte*> workspace(uint32_t step, uint64_t bytes);

  // As MemoryPool, with free blocks for each stream: one that was given back may still be in use by
  // what is enqueued there. `what` the memory is for, for messages.
  [[nodiscard]] Result<std::byte*> take(uint64_t bytes, uint32_t stream, std::string_view what);
  void give_back(const std::byte* memory);
  // Nothing is enqueued any more.
  void end_run();

 private:
  DeviceLocation location_;
  bridge::DeviceBlock block_;
  std::map<uint32_t, BlockPool<bridge::DeviceBlock>> pools_;  // by stream
  std::map<uint32_t, bridge::DeviceBlock> workspaces_;
};

}  // namespace ephost::runtime
