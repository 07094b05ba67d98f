// Devices that a plugin opens (ephost.device/1): the adopted table, with checks of all its results,
// and the blocks of their memories. May be called by several threads at once.
#pragma once

#include <ephost/ext/device.h>
#include <ephost/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/bridge/collect/device_list.h"
#include "host/bridge/extensions/host_services.h"
#include "host/plugin/loaded_plugin.h"

namespace ephost::bridge {

inline constexpr uint32_t kHostMemory = 0;
// The other side of a copy from another device.
inline constexpr uint32_t kPeerMemory = EPH_PEER_MEMORY;

struct MemoryInfo {
  std::string name;
  uint64_t alignment = 64;
  uint64_t tail_padding = 0;
  uint64_t page_size = 1;
  // Host memory that the device copies from and to while it computes.
  bool is_staging = false;
  // The host can read and write there itself.
  bool is_host_readable = false;
  bool is_host_writable = false;
  std::string domain;    // equal ones share addresses; empty: none does
  std::string peers;     // between equal ones a device copies; empty: none does
  uint32_t imports = 0;  // bit n: EPH_EXTERNAL_* n
  uint32_t exports = 0;
  int32_t dlpack_type = 0;  // 0: DLPack has no name for it
  int32_t dlpack_id = 0;

  // Whether a computation that wants a value in this memory can have it in `other`.
  [[nodiscard]] bool is_served_by(const MemoryInfo& other) const {
    return !domain.empty() && domain == other.domain && alignment <= other.alignment &&
           tail_padding <= other.tail_padding;
  }
};

struct MemoryUsage {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t kept_bytes = 0;  // of released blocks
};

// What may be allocated in a memory by those who share the budget, in bytes. Any number of threads.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t limit) : limit_(limit) {}

  [[nodiscard]] uint64_t limit() const { return limit_; }
  [[nodiscard]] uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  // Whether `bytes` more are within the limit; they count from then on.
  [[nodiscard]] bool take(uint64_t bytes);
  void give_back(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};
};

class Device {
 public:
  // Whether the plugin offers the interface. EP_FAIL if its table is broken.
  static Result<bool> is_offered(const plugin::LoadedPlugin& plugin);
  // Opens the device, or finds it where this process has it open and it works: `open` is called
  // once for each plugin and device, and `close` when the last reference goes. One that has
  // stopped working is opened again, and the log says why. Null if the plugin does not offer the
  // interface. `services` are those of a provider.
  static Result<std::shared_ptr<const Device>> open(
      std::shared_ptr<const plugin::LoadedPlugin> plugin, const HostServices& services,
      const DeviceInfo& info);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  [[nodiscard]] eph_device_handle* handle() const { return handle_; }
  [[nodiscard]] const std::string& provider_name() const { return plugin_->manifest.provider; }
  [[nodiscard]] const std::string& short_name() const { return plugin_->manifest.name; }
  [[nodiscard]] const DeviceInfo& info() const { return info_; }

  // Memory n is entry n-1. The functions below take numbers of memories that exist.
  [[nodiscard]] const std::vector<MemoryInfo>& memories() const { return memories_; }
  // "host memory", or the name of a memory.
  [[nodiscard]] std::string name_of(uint32_t memory) const;

  // Allocates a block for values of `size` bytes, which is never null and has the memory's
  // alignment. Where memory runs out, it asks those who keep blocks (kept_blocks.h) and the plugin
  // for theirs, and tries once more. `what` completes the message "allocating 64 bytes in 'npu'
  // for ...".
  [[nodiscard]] Result<std::byte*> allocate(uint32_t memory, uint64_t size,
                                            std::string_view what) const;
  void release(uint32_t memory, std::byte* data) const;

  // Makes memory of others usable until `release_import`; the owner keeps it as long.
  // NOT_IMPLEMENTED for a kind that the memory does not take.
  [[nodiscard]] Result<std::byte*> import_memory(uint32_t memory, const eph_external& from) const;
  void release_import(uint32_t memory, std::byte* data) const;
  // Names for others what begins at `data`. NOT_IMPLEMENTED for a kind that the memory does not
  // give.
  [[nodiscard]] Result<eph_external> export_memory(uint32_t memory, std::byte* data, uint64_t size,
                                                   int32_t kind) const;
  // Returns after a fence of others.
  [[nodiscard]] Status wait_for(const eph_external& fence) const;

  // Nothing if the plugin does not say.
  [[nodiscard]] Result<std::optional<MemoryUsage>> usage(uint32_t memory) const;

  // Whether work can be enqueued (host/bridge/extensions/stream.h).
  [[nodiscard]] bool has_streams() const { return api_.create_stream != nullptr; }
  [[nodiscard]] bool has_captures() const { return api_.begin_capture != nullptr; }
  [[nodiscard]] const eph_device_api& api() const { return api_; }

  // Does nothing for a size of 0.
  [[nodiscard]] Status copy(uint32_t to_memory, void* to, uint32_t from_memory, const void* from,
                            uint64_t size, std::string_view what) const;

 private:
  friend class OpenedDevice;

  Device(std::shared_ptr<const plugin::LoadedPlugin> plugin, std::unique_ptr<HostServices> services,
         DeviceInfo info)
      : plugin_(std::move(plugin)), services_(std::move(services)), info_(std::move(info)) {}
  // `table` is the plugin's own, `api` what was adopted of it.
  static Result<std::unique_ptr<Device>> create(std::shared_ptr<const plugin::LoadedPlugin> plugin,
                                                const eph_device_api* table,
                                                const eph_device_api& api,
                                                std::unique_ptr<HostServices> services,
                                                const DeviceInfo& info);
  Status list_memories();
  // For messages; empty if the plugin does not say.
  [[nodiscard]] std::string describe_free(uint32_t memory) const;
  [[nodiscard]] Result<std::byte*> try_to_allocate(uint32_t memory, uint64_t size,
                                                   std::string_view what) const;
  // OK as long as the plugin says that it works.
  [[nodiscard]] Status status() const;

  const std::shared_ptr<const plugin::LoadedPlugin> plugin_;
  const std::unique_ptr<HostServices> services_;
  const DeviceInfo info_;
  eph_device_api api_ = {};
  eph_device_handle* handle_ = nullptr;
  std::vector<MemoryInfo> memories_;
};

// A memory of a device: what a provider refers to by a number.
struct DeviceMemory {
  std::shared_ptr<const Device> device;
  uint32_t number = 1;  // the device's own for it
  // What the session may allocate there; null: as much as there is.
  std::shared_ptr<MemoryBudget> budget = nullptr;

  [[nodiscard]] const MemoryInfo& info() const { return device->memories()[number - 1]; }
  // The same memory, whatever the budget.
  friend bool operator==(const DeviceMemory& a, const DeviceMemory& b) {
    return a.device == b.device && a.number == b.number;
  }
};

// The memories of all devices that this process has open, of any session.
[[nodiscard]] std::vector<DeviceMemory> open_memories();

// A block of a device's memory. Keeps the device open until the block is released.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  static Result<DeviceBlock> allocate(const DeviceMemory& memory, uint64_t size,
                                      std::string_view what);
  DeviceBlock(DeviceBlock&& other) noexcept;
  DeviceBlock& operator=(DeviceBlock&& other) noexcept;
  ~DeviceBlock();

  // Null for an empty object.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  DeviceMemory memory_;
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace ephost::bridge
