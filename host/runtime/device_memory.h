// What programs and frames keep in memory that is not the host's: constants, copied once, and
// blocks for intermediate values. Nothing here reads or writes that memory but through its
// provider.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "host/bridge/device_memory.h"
#include "host/bridge/provider.h"
#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/runtime/memory_pool.h"

namespace ephost::runtime {

// A location of the plan beside host memory: location n is entry n-1 of a program's devices.
struct DeviceLocation {
  std::shared_ptr<const bridge::Provider> provider;
  uint32_t memory = 0;  // by the provider's number
};

// The constants of a graph that its steps read outside of host memory.
class DeviceConstants {
 public:
  // Copies them. Fails with what the provider says, naming the value.
  static Result<DeviceConstants> create(const graph::Graph& graph,
                                        const plan::AllocationPlan& allocation,
                                        std::span<const DeviceLocation> devices);

  // Where each of them is, by value id.
  [[nodiscard]] const std::map<graph::ValueId, std::byte*>& data() const { return data_; }

 private:
  std::vector<bridge::DeviceBlock> blocks_;  // one for each location
  std::map<graph::ValueId, std::byte*> data_;
};

// What a frame has of one location. Not thread-safe.
class DeviceArena {
 public:
  explicit DeviceArena(DeviceLocation location) : location_(std::move(location)) {}

  // The block for the memory pattern gets at least so many bytes; it moves where it grows.
  [[nodiscard]] Status reserve(uint64_t bytes);
  [[nodiscard]] std::byte* block() const { return block_.data(); }

  // The workspace of a step that is not in the pattern; kept as long as the arena.
  [[nodiscard]] Result<std::byte*> workspace(uint32_t step, uint64_t bytes);

  // As MemoryPool; `value` is the name of what the memory is for.
  [[nodiscard]] Result<std::byte*> take(uint64_t bytes, std::string_view value);
  void give_back(const std::byte* memory) { pool_.give_back(memory); }
  void end_run() { pool_.end_run(); }

 private:
  DeviceLocation location_;
  bridge::DeviceBlock block_;
  BlockPool<bridge::DeviceBlock> pool_;
  std::map<uint32_t, bridge::DeviceBlock> workspaces_;
};

}  // namespace ephost::runtime
