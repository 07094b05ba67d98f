#include "host/session/environment/device_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace ephost::session::device_listing_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

EpDevice device(std::string provider, std::string id, std::string type) {
  return {.provider = std::move(provider), .id = std::move(id), .type = std::move(type)};
}

std::vector<std::string> chosen(const std::vector<EpDevice>& devices, EpDevicePolicy policy) {
  std::vector<std::string> texts;
  for (const ProviderRequest& request : choose_by_policy(devices, policy)) {
    for (const std::string& id : request.devices) texts.push_back(request.name + " " + id);
  }
  return texts;
}

const std::vector<EpDevice>& all() {
  static const std::vector<EpDevice> devices = {
      device("CPUExecutionProvider", "cpu", "cpu"), device("Dnnl", "cpu", "cpu"),
      device("Gpu", "g0", "gpu"), device("Npu", "n0", "npu"), device("Npu", "n1", "npu")};
  return devices;
}

TEST(DevicePolicy, TakesTheBestDeviceOfItsTypeAndThenACpu) {
  const std::pair<EpDevicePolicy, std::string> cases[] = {
      {EpDevicePolicy::kPreferNpu, "Npu n0"},
      {EpDevicePolicy::kMaxEfficiency, "Npu n0"},
      {EpDevicePolicy::kMinOverallPower, "Npu n0"},
      {EpDevicePolicy::kPreferGpu, "Gpu g0"},
      {EpDevicePolicy::kMaxPerformance, "Gpu g0"}};
  for (const auto& [policy, best] : cases) {
    EXPECT_THAT(chosen(all(), policy), ElementsAre(best, "Dnnl cpu"));
  }
  EXPECT_THAT(chosen(all(), EpDevicePolicy::kPreferCpu), ElementsAre("Dnnl cpu"));
  EXPECT_THAT(chosen(all(), EpDevicePolicy::kDefault), ElementsAre("Dnnl cpu"));
}

TEST(DevicePolicy, FallsBackToTheCpu) {
  const std::vector<EpDevice> cpus = {all()[0]};
  EXPECT_THAT(chosen(cpus, EpDevicePolicy::kPreferNpu), ElementsAre("CPUExecutionProvider cpu"));
  EXPECT_THAT(chosen({}, EpDevicePolicy::kPreferNpu), IsEmpty());
}

TEST(DevicePolicy, NeverTakesAVirtualDevice) {
  std::vector<EpDevice> devices = {device("Npu", "sim", "npu")};
  devices[0].is_virtual = true;
  EXPECT_THAT(chosen(devices, EpDevicePolicy::kPreferNpu), IsEmpty());
}

TEST(DevicePolicy, PrefersDiscreteGpusThenThoseOfTheProvidersVendor) {
  std::vector<EpDevice> devices = {device("A", "plain", "gpu"), device("B", "own", "gpu"),
                                   device("C", "discrete", "gpu")};
  for (EpDevice& one : devices) one.vendor = "acme";
  devices[1].provider_vendor = "acme";
  EXPECT_THAT(chosen(devices, EpDevicePolicy::kPreferGpu), ElementsAre("B own"));
  devices[2].metadata = {{"Discrete", "1"}};
  EXPECT_THAT(chosen(devices, EpDevicePolicy::kPreferGpu), ElementsAre("C discrete"));
}

TEST(DevicePolicy, GivesOneProviderBothDevices) {
  const std::vector<EpDevice> devices = {device("Vino", "c", "cpu"), device("Vino", "n", "npu")};
  EXPECT_THAT(chosen(devices, EpDevicePolicy::kPreferNpu), ElementsAre("Vino n", "Vino c"));
  EXPECT_THAT(chosen(devices, EpDevicePolicy::kPreferCpu), ElementsAre("Vino c"));
}

TEST(DevicePolicy, HasTheNamesOfOnnxRuntime) {
  for (const char* name : {"DEFAULT", "PREFER_CPU", "PREFER_NPU", "PREFER_GPU", "MAX_PERFORMANCE",
                           "MAX_EFFICIENCY", "MIN_OVERALL_POWER"}) {
    const auto policy = parse_ep_device_policy(name);
    ASSERT_THAT(policy, IsOk()) << name;
    EXPECT_EQ(ep_device_policy_name(*policy), name);
  }
  EXPECT_EQ(*parse_ep_device_policy("prefer_npu"), EpDevicePolicy::kPreferNpu);
  const auto unknown = parse_ep_device_policy("FASTEST");
  EXPECT_EQ(unknown.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.status().message(),
              ::testing::HasSubstr("\"FASTEST\" is not a device policy"));
}

}  // namespace
}  // namespace ephost::session::device_listing_test
