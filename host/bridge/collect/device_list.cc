#include "host/bridge/collect/device_list.h"

#include <algorithm>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/callback.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

// More than any machine has; a longer list, or a longer text, is garbage.
constexpr size_t kMaxDevices = 4096;
constexpr uint64_t kMaxTextSize = 1024;
constexpr uint64_t kMaxMetadata = 256;
constexpr uint64_t kMaxMetadataSize = 65536;

Status broken_list(std::string_view provider, const std::string& what) {
  return Status(StatusCode::kEpFail,
                formatted("{} lists {}; report this to the plugin's vendor", provider, what));
}

// Every text of the device, under its name in the ABI.
Status copy_texts(const eph_device& given, const plugin::CallSite& site, DeviceInfo& device) {
  const struct {
    std::string_view field;
    eph_string text;
    std::string& copy;
  } texts[] = {{"eph_device.id", given.id, device.id},
               {"eph_device.name", given.name, device.name},
               {"eph_device.vendor", given.vendor, device.vendor},
               {"eph_device.architecture", given.architecture, device.architecture},
               {"eph_device.driver_version", given.driver_version, device.driver_version}};
  for (const auto& [field, text, copy] : texts) {
    EPHOST_ASSIGN_OR_RETURN(copy, plugin::adopt_text(text, kMaxTextSize, site, field));
  }
  return {};
}

Status copy_metadata(const eph_device& given, const plugin::CallSite& site, DeviceInfo& device) {
  EPHOST_ASSIGN_OR_RETURN(const auto entries,
                          plugin::adopt_array(given.metadata, given.metadata_count, kMaxMetadata,
                                              site, "eph_device.metadata"));
  for (const eph_key_value& entry : entries) {
    EPHOST_ASSIGN_OR_RETURN(const std::string_view key,
                            plugin::adopt_text(entry.key, kMaxTextSize, site, "a metadata key"));
    EPHOST_ASSIGN_OR_RETURN(
        const std::string_view value,
        plugin::adopt_text(entry.value, kMaxMetadataSize, site, "a metadata value"));
    const bool is_known =
        std::ranges::any_of(device.metadata, [&](const auto& known) { return known.first == key; });
    if (key.empty() || is_known) {
      return broken_list(site.provider,
                         formatted("device {} with {} metadata key {}", quote(device.id),
                                   is_known ? "the repeated" : "the empty", quote(key)));
    }
    device.metadata.emplace_back(key, value);
  }
  return {};
}

using ListSlot = decltype(eph_provider_api::get_devices);

Result<std::vector<DeviceInfo>> list(const plugin::LoadedPlugin& plugin,
                                     const HostServices& services, ListSlot slot,
                                     std::string_view name, std::string_view what) {
  const std::string& provider = plugin.manifest.provider;
  DeviceCollector collector(provider);
  const Status listed =
      call_slot({provider, name}, what, slot, plugin.provider_self, &services, &collector);
  EPHOST_RETURN_IF_ERROR(collector.status());
  EPHOST_RETURN_IF_ERROR(listed);
  return collector.take();
}

}  // namespace

const eph_device_list_api DeviceCollector::kApi = {sizeof(eph_device_list_api),
                                                   &DeviceCollector::add};

DeviceCollector::DeviceCollector(std::string_view provider)
    : eph_device_list{&kApi}, provider_(provider) {}

int32_t DeviceCollector::add(eph_device_list* handle, const eph_device* given,
                             eph_error* error) noexcept {
  return run_callback(error, [&]() -> Status {
    auto& collector = *static_cast<DeviceCollector*>(handle);
    if (collector.status_.ok()) collector.status_ = collector.try_add(given);
    return collector.status_;
  });
}

Status DeviceCollector::try_add(const eph_device* given) {
  const plugin::CallSite site{provider_, "add"};
  EPHOST_ASSIGN_OR_RETURN(const auto adopted, plugin::adopt<eph_device>(given, site));
  DeviceInfo device;
  EPHOST_RETURN_IF_ERROR(copy_texts(adopted, site, device));
  if (device.id.empty()) {
    return broken_list(provider_,
                       formatted("a device without an id (name {})", quote(device.name)));
  }
  if (std::ranges::find(devices_, device.id, &DeviceInfo::id) != devices_.end()) {
    return broken_list(provider_, formatted("two devices with the id {}", quote(device.id)));
  }
  if (devices_.size() == kMaxDevices) {
    return broken_list(provider_, formatted("more than {} devices", kMaxDevices));
  }
  EPHOST_RETURN_IF_ERROR(copy_metadata(adopted, site, device));
  device.type = adopted.type;
  device.number =
      static_cast<uint32_t>(std::ranges::count(devices_, device.type, &DeviceInfo::type));
  device.memory_bytes = adopted.memory_bytes;
  device.flags = adopted.flags;
  device.vendor_id = adopted.vendor_id;
  device.device_id = adopted.device_id;
  devices_.push_back(std::move(device));
  return {};
}

Result<std::vector<DeviceInfo>> list_devices(const plugin::LoadedPlugin& plugin,
                                             const HostServices& services) {
  return list(plugin, services, plugin.provider.get_devices, "get_devices", "listing its devices");
}

Result<std::vector<DeviceInfo>> list_targets(const plugin::LoadedPlugin& plugin,
                                             const HostServices& services) {
  if (plugin.provider.list_targets == nullptr) return std::vector<DeviceInfo>();
  return list(plugin, services, plugin.provider.list_targets, "list_targets",
              "listing what it compiles for");
}

}  // namespace ephost::bridge
