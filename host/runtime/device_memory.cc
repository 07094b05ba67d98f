#include "host/runtime/device_memory.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {
namespace {

struct Constant {
  graph::ValueId id = graph::kNoValue;
  uint64_t offset = 0;  // in the block of its location
};

// The constants of one location, and the size of their block.
struct Layout {
  std::vector<Constant> constants;
  uint64_t bytes = 0;
};

Result<std::map<uint32_t, Layout>> lay_out(const graph::Graph& graph,
                                           const plan::AllocationPlan& allocation,
                                           std::span<const DeviceLocation> devices) {
  std::map<uint32_t, Layout> layouts;
  for (graph::ValueId id = 0; id < allocation.values.size(); ++id) {
    const plan::ValuePlan& planned = allocation.values[id];
    const bool is_ours = planned.kind == plan::AllocKind::kAllocateStatically &&
                         planned.location != plan::kHostLocation;
    if (!is_ours) continue;
    const uint64_t alignment = devices[planned.location - 1].memory.info().alignment;
    Layout& layout = layouts[planned.location];
    const auto offset = checked_align_up(layout.bytes, alignment);
    const uint64_t size = graph.initializers[graph.values[id].initializer].data.bytes.size();
    const auto end = offset ? checked_add(*offset, size) : std::nullopt;
    if (!end) {
      return Status(StatusCode::kInvalidGraph,
                    formatted("the constants up to {} take more than 64 bits of bytes",
                              quote(graph.values[id].name)));
    }
    layout.constants.push_back({id, *offset});
    layout.bytes = *end;
  }
  return layouts;
}

}  // namespace

Result<DeviceConstants> DeviceConstants::create(const graph::Graph& graph,
                                                const plan::AllocationPlan& allocation,
                                                std::span<const DeviceLocation> devices) {
  DeviceConstants made;
  if (devices.empty()) return made;
  EPHOST_ASSIGN_OR_RETURN(const auto layouts, lay_out(graph, allocation, devices));
  for (const auto& [location, layout] : layouts) {
    const bridge::DeviceMemory& memory = devices[location - 1].memory;
    if (layout.bytes != 0) {
      EPHOST_ASSIGN_OR_RETURN(
          made.blocks_.emplace_back(),
          bridge::DeviceBlock::allocate(memory, layout.bytes,
                                        "the constants of graph " + quote(graph.name)));
    }
    for (const auto& [id, offset] : layout.constants) {
      const graph::Value& value = graph.values[id];
      const std::span<const std::byte> bytes = graph.initializers[value.initializer].data.bytes;
      if (bytes.empty()) {
        made.data_[id] = static_cast<std::byte*>(empty_tensor_memory());
        continue;
      }
      std::byte* const to = made.blocks_.back().data() + offset;
      EPHOST_RETURN_IF_ERROR(memory.device->copy(memory.number, to, bridge::kHostMemory,
                                                 bytes.data(), bytes.size(),
                                                 "constant " + quote(value.name)));
      made.data_[id] = to;
    }
  }
  return made;
}

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
