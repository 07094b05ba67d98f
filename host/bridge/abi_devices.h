// Devices as the ABI passes them to `create` and `validate`.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "host/bridge/collect/device_list.h"

namespace ephost::bridge {

// Borrows the devices.
class AbiDevices {
 public:
  explicit AbiDevices(std::span<const DeviceInfo> devices);
  AbiDevices(const AbiDevices&) = delete;
  AbiDevices& operator=(const AbiDevices&) = delete;

  // Null if there are none.
  [[nodiscard]] const eph_device* data() const {
    return records_.empty() ? nullptr : records_.data();
  }
  [[nodiscard]] uint64_t size() const { return records_.size(); }
  // In bytes, from one record to the next.
  static constexpr uint64_t kStride = sizeof(eph_device);

 private:
  std::vector<std::vector<eph_key_value>> metadata_;  // beside records_
  std::vector<eph_device> records_;
};

}  // namespace ephost::bridge
