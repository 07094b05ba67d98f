#include "host/session/plugins/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ephost::session::device_choice_test {
namespace {

using bridge::DeviceInfo;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<DeviceInfo> some_devices() {
  return {{.id = "npu-a", .type = EPH_DEVICE_NPU},
          {.id = "gpu-a", .type = EPH_DEVICE_GPU},
          {.id = "npu-sim", .type = EPH_DEVICE_NPU, .flags = EPH_DEVICE_VIRTUAL},
          {.id = "npu-b", .type = EPH_DEVICE_NPU},
          {.id = "gpu", .type = EPH_DEVICE_OTHER},
          {.id = "strange", .type = 77}};
}

std::vector<std::string> chosen(const std::vector<std::string>& wanted) {
  const auto devices = choose_devices("Toy", some_devices(), wanted);
  if (!devices.ok()) return {devices.status().message()};
  std::vector<std::string> ids;
  for (const DeviceInfo& device : *devices) ids.push_back(device.id);
  return ids;
}

TEST(DeviceChoice, TakesAllThatAreNotVirtualWithoutAWish) {
  EXPECT_THAT(chosen({}), ElementsAre("npu-a", "gpu-a", "npu-b", "gpu", "strange"));
  EXPECT_THAT(*choose_devices("Toy", {}, {}), IsEmpty());
}

TEST(DeviceChoice, FindsIdsInTheUsersOrder) {
  EXPECT_THAT(chosen({"npu-b", "npu-a"}), ElementsAre("npu-b", "npu-a"));
}

TEST(DeviceChoice, FindsAVirtualDeviceByItsIdAlone) {
  EXPECT_THAT(chosen({"npu-sim"}), ElementsAre("npu-sim"));
  EXPECT_THAT(chosen({"npu"}), ElementsAre("npu-a", "npu-b"));
}

TEST(DeviceChoice, FindsTypesAndNumbersInAnyCase) {
  EXPECT_THAT(chosen({"npu:1", "NPU:0"}), ElementsAre("npu-b", "npu-a"));
  EXPECT_THAT(chosen({"gpu:0"}), ElementsAre("gpu-a"));
}

TEST(DeviceChoice, CountsUnknownTypesAsOther) {
  EXPECT_THAT(chosen({"other"}), ElementsAre("gpu", "strange"));
}

TEST(DeviceChoice, PrefersAnIdToAType) { EXPECT_THAT(chosen({"gpu"}), ElementsAre("gpu")); }

TEST(DeviceChoice, TakesEachDeviceOnce) {
  EXPECT_THAT(chosen({"npu:1", "npu", "npu-b"}), ElementsAre("npu-b", "npu-a"));
}

TEST(DeviceChoice, ListsTheDevicesIfOneDoesNotExist) {
  for (const std::string wanted : {"npu:2", "cpu", "npu-c", "npu:", "npu:x", "npu:-1", ""}) {
    EXPECT_THAT(chosen({"npu", wanted}),
                ElementsAre(AllOf(HasSubstr("Toy has no device \"" + wanted + "\" here, only: "),
                                  HasSubstr("\"npu-a\" (npu), \"gpu-a\" (gpu), "
                                            "\"npu-sim\" (npu, virtual)"))))
        << wanted;
  }
}

TEST(DeviceChoice, SaysThatThereIsNone) {
  const std::vector<std::string> wanted = {"npu"};
  const auto devices = choose_devices("Toy", {}, wanted);
  EXPECT_EQ(devices.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(devices.status().message(), HasSubstr("only: none;"));
}

}  // namespace
}  // namespace ephost::session::device_choice_test
