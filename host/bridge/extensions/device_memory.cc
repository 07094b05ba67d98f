#include "host/bridge/extensions/device_memory.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/provider.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

// More than any provider has; one that reports more is broken.
constexpr uint64_t kMaxMemories = 64;
constexpr uint64_t kMaxSlots = uint64_t{1} << 20;
constexpr uint64_t kMinAlignment = 64;
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;
constexpr size_t kMaxMemoryName = 256;

Status broken_memories(std::string_view owner, const std::string& what) {
  return Status(StatusCode::kEpFail,
                formatted("{} {}; report this to the plugin's vendor", owner, what));
}

}  // namespace

Result<DeviceMemory> DeviceMemory::create(const eph_device_memory_api& api, eph_provider* provider,
                                          std::string_view owner) {
  DeviceMemory memory;
  memory.api_ = api;
  memory.provider_ = provider;
  memory.owner_ = owner;
  const eph_memory* memories = nullptr;
  uint64_t count = 0;
  const plugin::CallSite site{owner, "get_memories"};
  EPHOST_RETURN_IF_ERROR(
      call_slot(site, "listing its memories", api.get_memories, provider, &memories, &count));
  EPHOST_ASSIGN_OR_RETURN(const auto list,
                          plugin::adopt_array(memories, count, kMaxMemories, site, "out_memories"));
  if (list.empty()) {
    return broken_memories(owner, formatted("offers {} and has no memory", EPH_EXT_DEVICE_MEMORY));
  }
  for (const eph_memory& given : list) {
    const std::string name(view(given.name).substr(0, kMaxMemoryName));
    const uint64_t alignment = std::max(given.alignment, kMinAlignment);
    if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) {
      return broken_memories(owner,
                             formatted("asks for an alignment of {} in its memory {}; it must be a "
                                       "power of two of at most {}",
                                       alignment, quote(name), kMaxAlignment));
    }
    memory.memories_.push_back({name, alignment});
  }
  return memory;
}

std::string DeviceMemory::name_of(uint32_t memory) const {
  return memory == kHostMemory ? "host memory" : quote(memories_[memory - 1].name);
}

Result<ComputationMemory> DeviceMemory::describe(eph_computation* computation) const {
  ComputationMemory described;
  if (memories_.empty()) return described;
  described.memory = 1;
  if (api_.describe == nullptr) return described;
  eph_computation_memory out = {};
  out.struct_size = sizeof(out);
  out.memory = 1;
  const plugin::CallSite site{owner_, "describe"};
  EPHOST_RETURN_IF_ERROR(call_slot(site, "telling where a computation's values lie", api_.describe,
                                   provider_, computation, &out));
  EPHOST_ASSIGN_OR_RETURN(out, plugin::adopt<eph_computation_memory>(&out, site));
  described.memory = out.memory;
  EPHOST_RETURN_IF_ERROR(check_exists(out.memory));
  EPHOST_ASSIGN_OR_RETURN(described.inputs, copy_slots(out.inputs, out.input_count, "inputs"));
  EPHOST_ASSIGN_OR_RETURN(described.outputs, copy_slots(out.outputs, out.output_count, "outputs"));
  return described;
}

Status DeviceMemory::check_exists(uint32_t memory) const {
  if (memory <= memories_.size()) return Status::ok_status();
  return broken_memories(
      owner_,
      formatted("puts values of a computation into memory {}, which does not exist", memory));
}

Result<std::vector<SlotMemory>> DeviceMemory::copy_slots(const eph_slot_memory* slots,
                                                         uint64_t count,
                                                         std::string_view array) const {
  EPHOST_ASSIGN_OR_RETURN(
      const auto list, plugin::adopt_array(slots, count, kMaxSlots, {owner_, "describe"}, array));
  std::vector<SlotMemory> copied;
  for (const eph_slot_memory& slot : list) {
    EPHOST_RETURN_IF_ERROR(check_exists(slot.memory));
    copied.push_back({slot.slot, slot.memory});
  }
  return copied;
}

Result<std::byte*> DeviceMemory::allocate(uint32_t memory, uint64_t size,
                                          std::string_view what) const {
  void* data = nullptr;
  const auto attempt = [&] {
    return formatted("allocating {} bytes in {} for {}", size, name_of(memory), what);
  };
  EPHOST_RETURN_IF_ERROR(call_slot({owner_, "allocate", what}, attempt, api_.allocate, provider_,
                                   memory, size, &data));
  const uint64_t alignment = memories_[memory - 1].alignment;
  if (data != nullptr && reinterpret_cast<uintptr_t>(data) % alignment == 0) {
    return static_cast<std::byte*>(data);
  }
  if (data != nullptr) release(memory, static_cast<std::byte*>(data));
  return broken_memories(
      owner_, formatted("gave no memory, or memory that is not aligned to {} bytes, when {}",
                        alignment, attempt()));
}

void DeviceMemory::release(uint32_t memory, std::byte* data) const {
  plugin::call_release({owner_, "release"}, api_.release, provider_, memory, data);
}

Status DeviceMemory::copy(uint32_t to_memory, void* to, uint32_t from_memory, const void* from,
                          uint64_t size, std::string_view what) const {
  if (size == 0) return Status::ok_status();
  const auto attempt = [&] {
    return formatted("copying {} ({} bytes) from {} to {}", what, size, name_of(from_memory),
                     name_of(to_memory));
  };
  return call_slot({owner_, "copy", what}, attempt, api_.copy, provider_, to_memory, to,
                   from_memory, from, size);
}

Result<DeviceBlock> DeviceBlock::allocate(std::shared_ptr<const Provider> provider, uint32_t memory,
                                          uint64_t size, std::string_view what) {
  DeviceBlock block;
  EPHOST_ASSIGN_OR_RETURN(block.data_, provider->device_memory().allocate(memory, size, what));
  block.provider_ = std::move(provider);
  block.memory_ = memory;
  block.size_ = size;
  return block;
}

DeviceBlock::DeviceBlock(DeviceBlock&& other) noexcept
    : provider_(std::move(other.provider_)),
      memory_(other.memory_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

DeviceBlock& DeviceBlock::operator=(DeviceBlock&& other) noexcept {
  std::swap(provider_, other.provider_);
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

DeviceBlock::~DeviceBlock() {
  if (data_ != nullptr) provider_->device_memory().release(memory_, data_);
}

}  // namespace ephost::bridge
