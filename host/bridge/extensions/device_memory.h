// A provider's own memories (ephost.device_memory/1): the adopted table, with checks of all its
// results. May be called by several threads at once.
#pragma once

#include <ephost/ext/device_memory.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::bridge {

class Provider;

inline constexpr uint32_t kHostMemory = 0;

struct MemoryInfo {
  std::string name;
  uint64_t alignment = 64;
};

struct SlotMemory {
  uint32_t slot = 0;
  uint32_t memory = kHostMemory;
};

// In which memories a computation wants its values, by the provider's numbers.
struct ComputationMemory {
  uint32_t memory = kHostMemory;  // of the workspace, and of inputs and outputs not listed below
  std::vector<SlotMemory> inputs;
  std::vector<SlotMemory> outputs;
};

class DeviceMemory {
 public:
  // None.
  DeviceMemory() = default;

  // `api` is an adopted table. `owner` is the provider's name, for messages; `provider` outlives
  // the object. EP_FAIL if the provider declares impossible memories.
  static Result<DeviceMemory> create(const eph_device_memory_api& api, eph_provider* provider,
                                     std::string_view owner);

  // Memory n is entry n-1; numbers of memories are checked by `describe`.
  [[nodiscard]] const std::vector<MemoryInfo>& memories() const { return memories_; }

  // "host memory", or the name of a memory.
  [[nodiscard]] std::string name_of(uint32_t memory) const;

  // Asks the provider where the computation wants its values; all in host memory if there is no
  // other. EP_FAIL for memories that do not exist.
  [[nodiscard]] Result<ComputationMemory> describe(eph_computation* computation) const;

  // Allocates a block, which is never null and has the memory's alignment. `what` completes the
  // message "allocating 64 bytes in 'npu' for ...".
  [[nodiscard]] Result<std::byte*> allocate(uint32_t memory, uint64_t size,
                                            std::string_view what) const;
  void release(uint32_t memory, std::byte* data) const;

  // Does nothing for a size of 0.
  [[nodiscard]] Status copy(uint32_t to_memory, void* to, uint32_t from_memory, const void* from,
                            uint64_t size, std::string_view what) const;

 private:
  [[nodiscard]] Status check_exists(uint32_t memory) const;
  [[nodiscard]] Result<std::vector<SlotMemory>> copy_slots(const eph_slot_memory* slots,
                                                           uint64_t count,
                                                           std::string_view array) const;

  eph_device_memory_api api_ = {};
  eph_provider* provider_ = nullptr;
  std::string owner_;
  std::vector<MemoryInfo> memories_;
};

// A block of a provider's memory. Keeps the provider alive until the block is freed.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  static Result<DeviceBlock> allocate(std::shared_ptr<const Provider> provider, uint32_t memory,
                                      uint64_t size, std::string_view what);
  DeviceBlock(DeviceBlock&& other) noexcept;
  DeviceBlock& operator=(DeviceBlock&& other) noexcept;
  ~DeviceBlock();

  // Null for an empty object.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  std::shared_ptr<const Provider> provider_;
  uint32_t memory_ = kHostMemory;
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace ephost::bridge
