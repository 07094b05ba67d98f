#include "host/bridge/extensions/device.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_devices.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/extensions/kept_blocks.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {

// A device that this process has open, or had or will have: the calls of `open` and `close` for it
// come one at a time.
class OpenedDevice : public std::enable_shared_from_this<OpenedDevice> {
 public:
  // A reference to the open device; null if it has failed for good.
  template <class Open>
  Result<std::shared_ptr<const Device>> get(Open open) {
    const std::lock_guard lock(mutex_);
    if (device_ == nullptr) {
      EPHOST_ASSIGN_OR_RETURN(device_, open());
    } else if (const Status status = device_->status(); !status.ok()) {
      plugin::log_failure(status);
      return std::shared_ptr<const Device>();
    }
    return refer();
  }
  // Null if it is not open.
  std::shared_ptr<const Device> get_if_open() {
    const std::lock_guard lock(mutex_);
    return device_ != nullptr ? refer() : nullptr;
  }

 private:
  std::shared_ptr<const Device> refer() {
    ++users_;
    return {device_.get(), [self = shared_from_this()](const Device*) { self->let_go(); }};
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) device_ = nullptr;
  }

  std::mutex mutex_;
  std::unique_ptr<Device> device_;
  size_t users_ = 0;
};

namespace {

// More than any device has; one that reports more is broken.
constexpr uint64_t kMaxMemories = 64;
constexpr uint64_t kMinAlignment = 64;
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;
constexpr uint64_t kMaxTailPadding = uint64_t{1} << 20;
constexpr uint64_t kMaxPageSize = uint64_t{1} << 30;
constexpr size_t kMaxMemoryName = 256;

Status broken_device(std::string_view owner, const std::string& what) {
  return Status(StatusCode::kEpFail,
                formatted("{} {}; report this to the plugin's vendor", owner, what));
}

std::string external_name(int32_t kind) {
  constexpr std::array<std::string_view, 6> kNames = {"an address of the device",
                                                      "an address of the host",
                                                      "a dma-buf",
                                                      "a file descriptor",
                                                      "a queue",
                                                      "a sync file"};
  const auto index = static_cast<size_t>(kind);
  if (kind >= 0 && index < kNames.size()) return std::string(kNames[index]);
  return formatted("a handle of kind {}", kind);
}

bool has_kind(uint32_t kinds, int32_t kind) {
  return kind >= 0 && kind < 32 && (kinds >> kind & 1) != 0;
}

// The devices of this process. A reference to a device keeps its entry.
class OpenedDevices {
 public:
  // Any but `lost`, which those that have it keep.
  std::shared_ptr<OpenedDevice> find(const eph_provider_api* provider, const std::string& id,
                                     const std::shared_ptr<OpenedDevice>& lost = nullptr) {
    const std::lock_guard lock(mutex_);
    std::erase_if(devices_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<OpenedDevice>& known = devices_[{provider, id}];
    std::shared_ptr<OpenedDevice> found = known.lock();
    if (found == nullptr || found == lost) known = found = std::make_shared<OpenedDevice>();
    return found;
  }
  std::vector<std::shared_ptr<OpenedDevice>> all() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<OpenedDevice>> all;
    for (const auto& [key, known] : devices_) {
      if (auto entry = known.lock()) all.push_back(std::move(entry));
    }
    return all;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const eph_provider_api*, std::string>, std::weak_ptr<OpenedDevice>> devices_;
};

OpenedDevices& opened_devices() {
  static OpenedDevices* const devices = new OpenedDevices;  // used by destructors of other statics
  return *devices;
}

// The plugin's own table, which its functions take as `self`, and what was adopted of it; null if
// the plugin does not offer the interface.
struct DeviceTable {
  const eph_device_api* self = nullptr;
  eph_device_api api = {};
};

Result<DeviceTable> find_table(const plugin::LoadedPlugin& plugin) {
  DeviceTable found;
  const eph_provider_api& provider = plugin.provider;
  if (provider.get_extension == nullptr) return found;
  const plugin::CallSite site{plugin.manifest.provider, "get_extension"};
  EPHOST_ASSIGN_OR_RETURN(
      const void* const table,
      plugin::call(site, provider.get_extension, plugin.provider_self, to_abi(EPH_EXT_DEVICE)));
  if (table == nullptr) return found;
  EPHOST_ASSIGN_OR_RETURN(found.api, plugin::adopt_devices(table, site));
  found.self = static_cast<const eph_device_api*>(table);
  return found;
}

}  // namespace

Result<bool> Device::is_offered(const plugin::LoadedPlugin& plugin) {
  EPHOST_ASSIGN_OR_RETURN(const DeviceTable table, find_table(plugin));
  return table.self != nullptr;
}

Result<std::shared_ptr<const Device>> Device::open(
    std::shared_ptr<const plugin::LoadedPlugin> plugin, const HostServices& services,
    const DeviceInfo& info) {
  EPHOST_ASSIGN_OR_RETURN(const DeviceTable table, find_table(*plugin));
  if (table.self == nullptr) return std::shared_ptr<const Device>();
  const eph_provider_api* const self = plugin->provider_self;
  const auto create = [&] {
    return Device::create(plugin, table.self, table.api, services.without_hooks(), info);
  };
  std::shared_ptr<OpenedDevice> entry = opened_devices().find(self, info.id);
  EPHOST_ASSIGN_OR_RETURN(auto found, entry->get(create));
  if (found != nullptr) return found;
  entry = opened_devices().find(self, info.id, entry);
  EPHOST_ASSIGN_OR_RETURN(found, entry->get(create));
  if (found != nullptr) return found;
  return Status(StatusCode::kDeviceLost,
                formatted("device {} was lost again while it was being opened", quote(info.id)));
}

Result<std::unique_ptr<Device>> Device::create(std::shared_ptr<const plugin::LoadedPlugin> plugin,
                                               const eph_device_api* table,
                                               const eph_device_api& api,
                                               std::unique_ptr<HostServices> services,
                                               const DeviceInfo& info) {
  std::unique_ptr<Device> made(new Device(std::move(plugin), std::move(services), info));
  made->api_ = api;
  const AbiDevices devices({&info, 1});
  const auto attempt = [&] { return formatted("opening device {}", quote(info.id)); };
  EPHOST_RETURN_IF_ERROR(call_slot({made->provider_name(), "open", info.id}, attempt, api.open,
                                   table, static_cast<const eph_host*>(made->services_.get()),
                                   devices.data(), &made->handle_));
  if (made->handle_ == nullptr) {
    return broken_device(made->provider_name(),
                         formatted("reported success and gave no device when {}", attempt()));
  }
  EPHOST_RETURN_IF_ERROR(made->list_memories());
  return made;
}

Device::~Device() {
  if (handle_ != nullptr) plugin::call_release({provider_name(), "close"}, api_.close, handle_);
}

Status Device::status() const {
  if (api_.get_status == nullptr) return Status::ok_status();
  return call_slot({provider_name(), "get_status"}, "with a device, which is opened again",
                   api_.get_status, handle_);
}

Status Device::list_memories() {
  const eph_memory_info* memories = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  const plugin::CallSite site{provider_name(), "get_memories"};
  EPHOST_RETURN_IF_ERROR(call_slot(site, "listing its memories", api_.get_memories, handle_,
                                   &memories, &stride, &count));
  EPHOST_ASSIGN_OR_RETURN(const auto list,
                          plugin::adopt_records(memories, stride, count, kMaxMemories, site));
  if (list.empty()) {
    return broken_device(provider_name(), formatted("offers {} and has no memory", EPH_EXT_DEVICE));
  }
  for (const auto& [given, record] : list) {
    EPHOST_ASSIGN_OR_RETURN(const std::string_view name,
                            plugin::adopt_text(given.name, kMaxMemoryName, site, "name"));
    EPHOST_ASSIGN_OR_RETURN(const std::string_view domain,
                            plugin::adopt_text(given.domain, kMaxMemoryName, site, "domain"));
    EPHOST_ASSIGN_OR_RETURN(const std::string_view peers,
                            plugin::adopt_text(given.peers, kMaxMemoryName, site, "peers"));
    const auto has = [&flags = given.flags](uint32_t flag) { return (flags & flag) != 0; };
    const MemoryInfo memory = {.name = std::string(name),
                               .alignment = std::max(given.alignment, kMinAlignment),
                               .tail_padding = given.tail_padding,
                               .page_size = std::max<uint64_t>(given.page_size, 1),
                               .is_staging = has(EPH_MEMORY_STAGING),
                               .is_host_readable = has(EPH_MEMORY_HOST_READABLE),
                               .is_host_writable = has(EPH_MEMORY_HOST_WRITABLE),
                               .domain = std::string(domain),
                               .peers = std::string(peers),
                               .imports = given.imports,
                               .exports = given.exports,
                               .dlpack_type = given.dlpack_type,
                               .dlpack_id = given.dlpack_id};
    const auto refuse = [&](std::string_view field, uint64_t value, const std::string& rule) {
      return broken_device(provider_name(),
                           formatted("reports {} {} for its memory {}; it must be {}", field, value,
                                     quote(name), rule));
    };
    if (!std::has_single_bit(memory.alignment) || memory.alignment > kMaxAlignment) {
      return refuse("an alignment of", memory.alignment,
                    formatted("a power of two of at most {}", kMaxAlignment));
    }
    if (memory.tail_padding > kMaxTailPadding) {
      return refuse("a tail padding of", memory.tail_padding,
                    formatted("at most {}", kMaxTailPadding));
    }
    if (memory.page_size > kMaxPageSize) {
      return refuse("a page size of", memory.page_size, formatted("at most {}", kMaxPageSize));
    }
    memories_.push_back(memory);
  }
  return Status::ok_status();
}

std::string Device::name_of(uint32_t memory) const {
  if (memory == kHostMemory) return "host memory";
  return memory == kPeerMemory ? "another device" : quote(memories_[memory - 1].name);
}

Result<std::byte*> Device::allocate(uint32_t memory, uint64_t size, std::string_view what) const {
  Result<std::byte*> block = try_to_allocate(memory, size, what);
  if (block.ok() || block.status().code() != StatusCode::kOutOfMemory) return block;
  KeptBlocks::give_back(*this);
  if (api_.trim != nullptr) {
    plugin::call_release({provider_name(), "trim"}, api_.trim, handle_, memory);
  }
  const std::string left = describe_free(memory);
  block = try_to_allocate(memory, size, what);
  if (block.ok() || block.status().code() != StatusCode::kOutOfMemory || left.empty()) return block;
  return Status(StatusCode::kOutOfMemory, block.status().message() + left);
}

std::string Device::describe_free(uint32_t memory) const {
  const auto known = usage(memory);
  if (!known.ok()) plugin::log_failure(known.status());
  if (!known.ok() || !*known) return {};
  return formatted("; {} of the {} bytes of {} are free", (*known)->free_bytes,
                   (*known)->total_bytes, name_of(memory));
}

Result<std::byte*> Device::try_to_allocate(uint32_t memory, uint64_t size,
                                           std::string_view what) const {
  const MemoryInfo& info = memories_[memory - 1];
  const auto attempt = [&] {
    return formatted("allocating {} bytes in {} for {}", size, name_of(memory), what);
  };
  const auto padded = checked_add(size, info.tail_padding + info.page_size - 1);
  if (!padded) {
    return Status(StatusCode::kOutOfMemory,
                  formatted("{} failed {}: that is more than 64 bits", provider_name(), attempt()));
  }
  void* data = nullptr;
  EPHOST_RETURN_IF_ERROR(call_slot({provider_name(), "allocate", what}, attempt, api_.allocate,
                                   handle_, memory, *padded - *padded % info.page_size, &data));
  if (data != nullptr && reinterpret_cast<uintptr_t>(data) % info.alignment == 0) {
    return static_cast<std::byte*>(data);
  }
  if (data != nullptr) release(memory, static_cast<std::byte*>(data));
  return broken_device(provider_name(),
                       formatted("gave no memory, or memory that is not aligned to {} bytes, when "
                                 "{}",
                                 info.alignment, attempt()));
}

void Device::release(uint32_t memory, std::byte* data) const {
  plugin::call_release({provider_name(), "release"}, api_.release, handle_, memory,
                       static_cast<void*>(data));
}

Result<std::byte*> Device::import_memory(uint32_t memory, const eph_external& from) const {
  const MemoryInfo& info = memories_[memory - 1];
  const auto attempt = [&] {
    return formatted("using {} bytes of others, which {} names, in {}", from.size,
                     external_name(from.kind), name_of(memory));
  };
  if (api_.import_memory == nullptr || !has_kind(info.imports, from.kind)) {
    return Status(StatusCode::kNotImplemented,
                  formatted("{} does not support {}", provider_name(), attempt()));
  }
  void* data = nullptr;
  EPHOST_RETURN_IF_ERROR(call_slot({provider_name(), "import_memory"}, attempt, api_.import_memory,
                                   handle_, memory, &from, &data));
  if (data != nullptr && reinterpret_cast<uintptr_t>(data) % info.alignment == 0) {
    return static_cast<std::byte*>(data);
  }
  if (data != nullptr) release_import(memory, static_cast<std::byte*>(data));
  return broken_device(provider_name(),
                       formatted("gave no address, or one that is not aligned to {} bytes, when {}",
                                 info.alignment, attempt()));
}

void Device::release_import(uint32_t memory, std::byte* data) const {
  plugin::call_release({provider_name(), "release_import"}, api_.release_import, handle_, memory,
                       static_cast<void*>(data));
}

Result<eph_external> Device::export_memory(uint32_t memory, std::byte* data, uint64_t size,
                                           int32_t kind) const {
  const auto attempt = [&] {
    return formatted("lending {} bytes of {} to others as {}", size, name_of(memory),
                     external_name(kind));
  };
  if (api_.export_memory == nullptr || !has_kind(memories_[memory - 1].exports, kind)) {
    return Status(StatusCode::kNotImplemented,
                  formatted("{} does not support {}", provider_name(), attempt()));
  }
  eph_external made = {sizeof(eph_external), kind, 0, 0, 0, size};
  EPHOST_RETURN_IF_ERROR(call_slot({provider_name(), "export_memory"}, attempt, api_.export_memory,
                                   handle_, memory, static_cast<void*>(data), kind, &made.handle,
                                   &made.offset));
  return made;
}

Status Device::wait_for(const eph_external& fence) const {
  const auto attempt = [&] {
    return formatted("waiting for {} of others", external_name(fence.kind));
  };
  if (api_.wait_external == nullptr) {
    return Status(StatusCode::kNotImplemented,
                  formatted("{} does not support {}", provider_name(), attempt()));
  }
  return call_slot({provider_name(), "wait_external"}, attempt, api_.wait_external, handle_,
                   static_cast<eph_stream*>(nullptr), &fence);
}

Result<std::optional<MemoryUsage>> Device::usage(uint32_t memory) const {
  if (api_.get_usage == nullptr) return std::optional<MemoryUsage>();
  eph_memory_usage usage = {};
  usage.struct_size = sizeof(usage);
  const plugin::CallSite site{provider_name(), "get_usage"};
  EPHOST_RETURN_IF_ERROR(call_slot(
      site, [&] { return "telling how much is used of " + name_of(memory); }, api_.get_usage,
      handle_, memory, &usage));
  EPHOST_ASSIGN_OR_RETURN(usage, plugin::adopt<eph_memory_usage>(&usage, site));
  if (usage.total_bytes == 0) return std::optional<MemoryUsage>();
  if (usage.free_bytes > usage.total_bytes ||
      usage.kept_bytes > usage.total_bytes - usage.free_bytes) {
    return broken_device(
        provider_name(),
        formatted("says that {} has {} bytes, {} of them free and {} kept", name_of(memory),
                  usage.total_bytes, usage.free_bytes, usage.kept_bytes));
  }
  return std::optional(MemoryUsage{usage.total_bytes, usage.free_bytes, usage.kept_bytes});
}

Status Device::copy(uint32_t to_memory, void* to, uint32_t from_memory, const void* from,
                    uint64_t size, std::string_view what) const {
  if (size == 0) return Status::ok_status();
  const eph_copy copy = {sizeof(eph_copy), to, from, to_memory, from_memory, size};
  const auto attempt = [&] {
    return formatted("copying {} ({} bytes) from {} to {}", what, size, name_of(from_memory),
                     name_of(to_memory));
  };
  return call_slot({provider_name(), "copy", what}, attempt, api_.copy, handle_, &copy,
                   uint64_t{sizeof(copy)}, uint64_t{1});
}

std::vector<DeviceMemory> open_memories() {
  std::vector<DeviceMemory> memories;
  for (const std::shared_ptr<OpenedDevice>& entry : opened_devices().all()) {
    const std::shared_ptr<const Device> device = entry->get_if_open();
    for (uint32_t i = 0; device != nullptr && i < device->memories().size(); ++i) {
      memories.push_back({device, i + 1});
    }
  }
  return memories;
}

bool MemoryBudget::take(uint64_t bytes) {
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

Result<DeviceBlock> DeviceBlock::allocate(const DeviceMemory& memory, uint64_t size,
                                          std::string_view what) {
  const std::shared_ptr<MemoryBudget>& budget = memory.budget;
  bool has_room = budget == nullptr || budget->take(size);
  if (!has_room) {
    KeptBlocks::give_back(*memory.device);
    has_room = budget->take(size);
  }
  if (!has_room) {
    return Status(StatusCode::kOutOfMemory,
                  formatted("{} bytes in {} for {} are more than the session may have there, which "
                            "uses {} of {} bytes; raise session.device_memory_limit",
                            size, memory.device->name_of(memory.number), what, budget->used(),
                            budget->limit()));
  }
  DeviceBlock block;
  block.memory_ = memory;
  block.size_ = size;
  EPHOST_ASSIGN_OR_RETURN(block.data_, memory.device->allocate(memory.number, size, what));
  return block;
}

DeviceBlock::DeviceBlock(DeviceBlock&& other) noexcept
    : memory_(std::move(other.memory_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

DeviceBlock& DeviceBlock::operator=(DeviceBlock&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

DeviceBlock::~DeviceBlock() {
  if (data_ != nullptr) memory_.device->release(memory_.number, data_);
  if (memory_.budget != nullptr) memory_.budget->give_back(size_);
}

}  // namespace ephost::bridge
