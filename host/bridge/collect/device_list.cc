#include "host/bridge/collect/device_list.h"

#include "host/bridge/abi_text.h"
#include "host/bridge/callback.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/adopt.h"
#include "host/plugin/load_lock.h"

namespace ephost::bridge {

const eph_device_list_api DeviceCollector::kApi = {sizeof(eph_device_list_api),
                                                   &DeviceCollector::add};

DeviceCollector::DeviceCollector(std::string_view provider)
    : eph_device_list{&kApi}, provider_(provider) {}

int32_t DeviceCollector::add(eph_device_list* handle, const eph_device* given,
                             eph_error* error) noexcept {
  return run_callback(error, [&]() -> Status {
    auto& collector = *static_cast<DeviceCollector*>(handle);
    EPHOST_ASSIGN_OR_RETURN(const auto device,
                            plugin::adopt<eph_device>(given, {collector.provider_, "add"}));
    collector.devices_.push_back({device.type, device.index, std::string(view(device.name)),
                                  std::string(view(device.vendor)),
                                  std::string(view(device.architecture)),
                                  std::string(view(device.driver_version)), device.memory_bytes});
    return Status::ok_status();
  });
}

Result<std::vector<DeviceInfo>> list_devices(const plugin::LoadedPlugin& plugin,
                                             const HostServices& services) {
  DeviceCollector collector(plugin.manifest.provider);
  const auto lock = plugin::lock_loading();
  EPHOST_RETURN_IF_ERROR(call_slot({plugin.manifest.provider, "get_devices"}, "listing its devices",
                                   plugin.provider.get_devices, &services, &collector));
  return collector.take();
}

}  // namespace ephost::bridge
