#include "host/bridge/collect/device_list.h"

#include <gtest/gtest.h>

#include "host/bridge/abi_text.h"
#include "host/bridge/error_sink.h"

namespace ephost::bridge {
namespace {

TEST(DeviceCollector, CopiesWhatADeviceStates) {
  DeviceCollector devices("x");
  ErrorSink error;
  std::string name = "toy";
  const eph_device device = {
      sizeof(eph_device), EPH_DEVICE_NPU,    3,   to_abi(name), EPH_STRING("vendor"),
      EPH_STRING("arch"), EPH_STRING("1.2"), 4096};
  EXPECT_EQ(devices.api->add(&devices, &device, &error), EPH_OK);
  name = "???";
  const std::vector<DeviceInfo> taken = devices.take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].type, EPH_DEVICE_NPU);
  EXPECT_EQ(taken[0].index, 3U);
  EXPECT_EQ(taken[0].name, "toy");
  EXPECT_EQ(taken[0].vendor, "vendor");
  EXPECT_EQ(taken[0].architecture, "arch");
  EXPECT_EQ(taken[0].driver_version, "1.2");
  EXPECT_EQ(taken[0].memory_bytes, 4096U);
}

}  // namespace
}  // namespace ephost::bridge
