#include "host/bridge/collect/device_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "host/bridge/abi_text.h"
#include "host/bridge/error_sink.h"

namespace ephost::bridge::device_list_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

eph_device device(std::string_view id) {
  eph_device made = {};
  made.struct_size = sizeof(made);
  made.id = to_abi(id);
  return made;
}

// The message of the refusal of the last of these devices; empty if all are taken.
std::string refusal(std::initializer_list<eph_device> given) {
  DeviceCollector devices("Toy");
  for (const eph_device& one : given) {
    ErrorSink error;
    devices.api->add(&devices, &one, &error);
  }
  return devices.status().message();
}

TEST(DeviceCollector, CopiesWhatADeviceStates) {
  DeviceCollector devices("x");
  ErrorSink error;
  std::string name = "toy";
  const eph_key_value metadata[] = {{EPH_STRING("cores"), EPH_STRING("4")}};
  const eph_device given = {sizeof(eph_device),
                            EPH_STRING("npu-7"),
                            to_abi(name),
                            EPH_STRING("vendor"),
                            EPH_STRING("arch"),
                            EPH_STRING("1.2"),
                            4096,
                            EPH_DEVICE_NPU,
                            EPH_DEVICE_VIRTUAL,
                            0x8086,
                            0x7d1d,
                            metadata,
                            1};
  EXPECT_EQ(devices.api->add(&devices, &given, &error), EPH_OK);
  name = "???";
  const std::vector<DeviceInfo> taken = devices.take();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].id, "npu-7");
  EXPECT_EQ(taken[0].type, EPH_DEVICE_NPU);
  EXPECT_EQ(taken[0].name, "toy");
  EXPECT_EQ(taken[0].vendor, "vendor");
  EXPECT_EQ(taken[0].architecture, "arch");
  EXPECT_EQ(taken[0].driver_version, "1.2");
  EXPECT_EQ(taken[0].memory_bytes, 4096U);
  EXPECT_TRUE(taken[0].is_virtual());
  EXPECT_EQ(taken[0].vendor_id, 0x8086U);
  EXPECT_EQ(taken[0].device_id, 0x7d1dU);
  EXPECT_THAT(taken[0].metadata, ElementsAre(Pair("cores", "4")));
}

TEST(DeviceCollector, RefusesADeviceWithoutAnId) {
  EXPECT_THAT(refusal({device("")}), HasSubstr("Toy lists a device without an id"));
}

TEST(DeviceCollector, RefusesAnIdThatIsThereAlready) {
  EXPECT_EQ(refusal({device("a"), device("b")}), "");
  EXPECT_THAT(refusal({device("a"), device("b"), device("a")}),
              HasSubstr("Toy lists two devices with the id \"a\""));
}

TEST(DeviceCollector, RefusesTextsThatAreNoTexts) {
  eph_device bad = device("a");
  bad.vendor = {nullptr, 3};
  EXPECT_THAT(refusal({bad}), HasSubstr("eph_device.vendor is a text at a null pointer"));
  bad = device("a");
  bad.driver_version = EPH_STRING("\xff");
  EXPECT_THAT(refusal({bad}), HasSubstr("eph_device.driver_version is not UTF-8"));
  bad = device("a");
  bad.name.data = "x";
  bad.name.size = uint64_t{1} << 60;
  EXPECT_THAT(refusal({bad}), HasSubstr("and at most 1024 are allowed"));
}

TEST(DeviceCollector, RefusesMetadataThatAreNoMap) {
  const eph_key_value twice[] = {{EPH_STRING("k"), EPH_STRING("1")},
                                 {EPH_STRING("k"), EPH_STRING("2")}};
  const eph_key_value nameless = {{nullptr, 0}, EPH_STRING("1")};
  const std::pair<const eph_key_value*, uint64_t> cases[] = {{twice, 2}, {&nameless, 1}};
  for (const auto& [entries, count] : cases) {
    eph_device bad = device("a");
    bad.metadata = entries;
    bad.metadata_count = count;
    EXPECT_THAT(refusal({bad}), HasSubstr("metadata key"));
  }
}

TEST(DeviceCollector, RefusesAnEndlessList) {
  DeviceCollector devices("Toy");
  ErrorSink error;
  for (int i = 0; i < 5000; ++i) {
    const std::string id = std::to_string(i);
    const eph_device one = device(id);
    devices.api->add(&devices, &one, &error);
  }
  EXPECT_THAT(devices.status().message(), HasSubstr("more than 4096 devices"));
}

// The plugin cannot hide a refusal by ignoring it.
TEST(DeviceCollector, TakesNothingAfterARefusal) {
  DeviceCollector devices("Toy");
  ErrorSink error;
  const eph_device bad = device("");
  const eph_device good = device("good");
  EXPECT_EQ(devices.api->add(&devices, &bad, &error), EPH_EP_FAIL);
  EXPECT_EQ(devices.api->add(&devices, &good, &error), EPH_EP_FAIL);
  EXPECT_THAT(devices.take(), SizeIs(0));
}

}  // namespace
}  // namespace ephost::bridge::device_list_test
