#include "host/bridge/abi_devices.h"

#include "host/bridge/abi_text.h"

namespace ephost::bridge {

AbiDevices::AbiDevices(std::span<const DeviceInfo> devices) {
  metadata_.reserve(devices.size());
  for (const DeviceInfo& device : devices) {
    std::vector<eph_key_value>& metadata = metadata_.emplace_back();
    for (const auto& [key, value] : device.metadata) {
      metadata.push_back({to_abi(key), to_abi(value)});
    }
    eph_device record = {};
    record.struct_size = sizeof(record);
    record.id = to_abi(device.id);
    record.name = to_abi(device.name);
    record.vendor = to_abi(device.vendor);
    record.architecture = to_abi(device.architecture);
    record.driver_version = to_abi(device.driver_version);
    record.memory_bytes = device.memory_bytes;
    record.type = device.type;
    record.flags = device.flags;
    record.vendor_id = device.vendor_id;
    record.device_id = device.device_id;
    record.metadata = metadata.data();
    record.metadata_count = metadata.size();
    records_.push_back(record);
  }
}

}  // namespace ephost::bridge
