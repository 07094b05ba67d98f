#include "host/bridge/device_memory.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/provider.h"
#include "host/bridge/slot_call.h"

namespace ephost::bridge {
namespace {

// More than any provider has; one that states more is broken.
constexpr uint64_t kMaxMemories = 64;
constexpr uint64_t kMaxSlots = uint64_t{1} << 20;
constexpr uint64_t kLeastAlignment = 64;
constexpr uint64_t kMostAlignment = uint64_t{1} << 20;
constexpr size_t kMaxName = 256;

Status broken(std::string_view owner, const std::string& what) {
  return Status(StatusCode::kEpFail,
                std::string(owner) + " " + what + "; report this to the plugin's vendor");
}

}  // namespace

Result<DeviceMemory> DeviceMemory::adopt(const eph_device_memory_api& table, eph_provider* provider,
                                         std::string_view owner) {
  DeviceMemory memory;
  memory.api_ = copy_known(table);
  memory.provider_ = provider;
  memory.owner_ = owner;
  const eph_device_memory_api& api = memory.api_;
  const char* missing = api.get_memories == nullptr ? "get_memories"
                        : api.allocate == nullptr   ? "allocate"
                        : api.release == nullptr    ? "release"
                        : api.copy == nullptr       ? "copy"
                                                    : nullptr;
  if (missing != nullptr) {
    return broken(owner, std::string("offers ") + EPH_EXT_DEVICE_MEMORY +
                             " without its required function " + missing);
  }
  const eph_memory* memories = nullptr;
  uint64_t count = 0;
  EPHOST_RETURN_IF_ERROR(call_slot({owner, "get_memories"}, "listing its memories",
                                   api.get_memories, provider, &memories, &count));
  if (memories == nullptr || count == 0 || count > kMaxMemories) {
    return broken(owner, "lists " + std::to_string(count) +
                             " memories behind a bad pointer or count; there must be 1 to " +
                             std::to_string(kMaxMemories));
  }
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name(view(memories[i].name).substr(0, kMaxName));
    const uint64_t alignment = std::max(memories[i].alignment, kLeastAlignment);
    if (!std::has_single_bit(alignment) || alignment > kMostAlignment) {
      return broken(owner, "asks for an alignment of " + std::to_string(alignment) +
                               " in its memory " + quote(name) +
                               "; it must be a power of two of at most " +
                               std::to_string(kMostAlignment));
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
  EPHOST_RETURN_IF_ERROR(call_slot({owner_, "describe"}, "telling where a computation's values lie",
                                   api_.describe, provider_, computation, &out));
  const auto exists = [&](uint32_t memory) { return memory <= memories_.size(); };
  bool is_sound = exists(out.memory);
  const auto take = [&](const eph_slot_memory* slots, uint64_t count,
                        std::vector<SlotMemory>& taken) {
    is_sound = is_sound && count <= kMaxSlots && (count == 0 || slots != nullptr);
    for (uint64_t i = 0; is_sound && i < count; ++i) {
      is_sound = exists(slots[i].memory);
      taken.push_back({slots[i].slot, slots[i].memory});
    }
  };
  take(out.inputs, out.input_count, described.inputs);
  take(out.outputs, out.output_count, described.outputs);
  described.memory = out.memory;
  if (is_sound) return described;
  return broken(owner_,
                "puts values of a computation into a memory that does not exist, or behind "
                "a bad pointer or count");
}

Result<std::byte*> DeviceMemory::allocate(uint32_t memory, uint64_t size,
                                          std::string_view what) const {
  void* data = nullptr;
  const auto attempt = [&] {
    return "allocating " + std::to_string(size) + " bytes in " + name_of(memory) + " for " +
           std::string(what);
  };
  EPHOST_RETURN_IF_ERROR(call_slot({owner_, "allocate", what}, attempt, api_.allocate, provider_,
                                   memory, size, &data));
  const uint64_t alignment = memories_[memory - 1].alignment;
  if (data != nullptr && reinterpret_cast<uintptr_t>(data) % alignment == 0) {
    return static_cast<std::byte*>(data);
  }
  if (data != nullptr) release(memory, static_cast<std::byte*>(data));
  return broken(owner_, "gave no memory, or memory that is not aligned to " +
                            std::to_string(alignment) + " bytes, when " + attempt());
}

void DeviceMemory::release(uint32_t memory, std::byte* data) const {
  plugin::call_release({owner_, "release"}, api_.release, provider_, memory, data);
}

Status DeviceMemory::copy(uint32_t to_memory, void* to, uint32_t from_memory, const void* from,
                          uint64_t size, std::string_view what) const {
  if (size == 0) return Status::ok_status();
  const auto attempt = [&] {
    return "copying " + std::string(what) + " (" + std::to_string(size) + " bytes) from " +
           name_of(from_memory) + " to " + name_of(to_memory);
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
