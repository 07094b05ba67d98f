// The devices that a plugin lists for its provider: those of this machine, and those that it can
// compile for. What it lists is checked here.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/bridge/extensions/host_services.h"
#include "host/plugin/loaded_plugin.h"

namespace ephost::bridge {

// A copy of an eph_device.
struct DeviceInfo {
  std::string id;  // not empty; unique among the devices of a list
  int32_t type = EPH_DEVICE_OTHER;
  uint32_t number = 0;  // from 0, among the devices of its type in the list
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string driver_version;
  uint64_t memory_bytes = 0;
  uint32_t flags = 0;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  std::vector<std::pair<std::string, std::string>> metadata;  // keys are unique

  [[nodiscard]] bool is_virtual() const { return (flags & EPH_DEVICE_VIRTUAL) != 0; }
};

// The eph_device_list of one call. After the first bad device nothing is taken any more.
class DeviceCollector : public eph_device_list {
 public:
  // `provider` is the provider's name, for messages, and is borrowed.
  explicit DeviceCollector(std::string_view provider);
  DeviceCollector(const DeviceCollector&) = delete;
  DeviceCollector& operator=(const DeviceCollector&) = delete;

  // The first refusal. It takes precedence over the code that the plugin returns.
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] std::vector<DeviceInfo> take() { return std::move(devices_); }

 private:
  static int32_t add(eph_device_list* handle, const eph_device* given, eph_error* error) noexcept;
  static const eph_device_list_api kApi;
  Status try_add(const eph_device* given);

  std::string_view provider_;
  std::vector<DeviceInfo> devices_;
  Status status_;
};

// Asks the plugin for the devices of this machine, without creating a provider. Takes the load
// lock. EP_FAIL for a device that breaks a rule of the ABI.
[[nodiscard]] Result<std::vector<DeviceInfo>> list_devices(const plugin::LoadedPlugin& plugin,
                                                           const HostServices& services);

// Asks it for the devices that it can compile for without having them; none if it has no such
// function.
[[nodiscard]] Result<std::vector<DeviceInfo>> list_targets(const plugin::LoadedPlugin& plugin,
                                                           const HostServices& services);

}  // namespace ephost::bridge
