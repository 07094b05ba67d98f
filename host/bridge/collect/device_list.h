// The devices that a plugin finds on this machine for its provider.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/bridge/host_services.h"
#include "host/plugin/registry.h"

namespace ephost::bridge {

// A copy of an eph_device.
struct DeviceInfo {
  int32_t type = EPH_DEVICE_OTHER;
  uint32_t index = 0;
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string driver_version;
  uint64_t memory_bytes = 0;
};

// The eph_device_list of one get_devices call.
class DeviceCollector : public eph_device_list {
 public:
  // `provider` is the provider's name, for messages, and is borrowed.
  explicit DeviceCollector(std::string_view provider);
  DeviceCollector(const DeviceCollector&) = delete;
  DeviceCollector& operator=(const DeviceCollector&) = delete;

  [[nodiscard]] std::vector<DeviceInfo> take() { return std::move(devices_); }

 private:
  static int32_t add(eph_device_list* handle, const eph_device* given, eph_error* error) noexcept;
  static const eph_device_list_api kApi;

  std::string_view provider_;
  std::vector<DeviceInfo> devices_;
};

// Asks the plugin, without creating a provider. Takes the load lock.
[[nodiscard]] Result<std::vector<DeviceInfo>> list_devices(const plugin::LoadedPlugin& plugin,
                                                           const HostServices& services);

}  // namespace ephost::bridge
