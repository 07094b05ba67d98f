#include "host/session/environment/device_listing.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/collect/device_list.h"
#include "host/manifest/choose.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/plugin_loader.h"
#include "host/session/plugins/plugin_description.h"
#include "host/session/plugins/usable_plugin.h"

namespace ephost::session {

namespace {

constexpr std::pair<EpDevicePolicy, std::string_view> kPolicies[] = {
    {EpDevicePolicy::kDefault, "DEFAULT"},
    {EpDevicePolicy::kPreferCpu, "PREFER_CPU"},
    {EpDevicePolicy::kPreferNpu, "PREFER_NPU"},
    {EpDevicePolicy::kPreferGpu, "PREFER_GPU"},
    {EpDevicePolicy::kMaxPerformance, "MAX_PERFORMANCE"},
    {EpDevicePolicy::kMaxEfficiency, "MAX_EFFICIENCY"},
    {EpDevicePolicy::kMinOverallPower, "MIN_OVERALL_POWER"},
};

}  // namespace

std::string_view ep_device_policy_name(EpDevicePolicy policy) {
  for (const auto& [known, name] : kPolicies) {
    if (known == policy) return name;
  }
  return "";
}

Result<EpDevicePolicy> parse_ep_device_policy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [policy, known] : kPolicies) {
    if (equal_ignoring_case(known, name)) return policy;
    names.push_back(known);
  }
  const auto nearest = nearest_match(name, names);
  return Status(
      StatusCode::kInvalidArgument,
      formatted("{} is not a device policy; give one of {}{}", quote(name), join(names, ", "),
                nearest ? formatted("; did you mean {}?", *nearest) : std::string()));
}

}  // namespace ephost::session

namespace ephost::session {
namespace {

Result<std::vector<EpDevice>> list(const std::shared_ptr<const plugin::LoadedPlugin>& plugin,
                                   Listing listing) {
  const bridge::HostServices services(plugin->manifest.provider, plugin_log(),
                                      bridge::ProgressHooks{});
  EPHOST_ASSIGN_OR_RETURN(const auto listed, listing == Listing::kDevices
                                                 ? bridge::list_devices(*plugin, services)
                                                 : bridge::list_targets(*plugin, services));
  std::vector<EpDevice> devices;
  for (const bridge::DeviceInfo& device : listed) {
    devices.push_back(describe_device(plugin->manifest, device));
  }
  return devices;
}

bool is_discrete(const EpDevice& device) {
  return std::ranges::find(device.metadata, std::pair<std::string, std::string>("Discrete", "1")) !=
         device.metadata.end();
}

// Lower is better, among devices of one type.
auto rank(const EpDevice& device) {
  return std::tuple(!is_discrete(device), device.vendor != device.provider_vendor,
                    device.provider == kCpuProvider, std::string_view(device.provider));
}

// The best device of the type; null if there is none.
const EpDevice* best_of(std::span<const EpDevice> devices, std::string_view type) {
  const EpDevice* best = nullptr;
  for (const EpDevice& device : devices) {
    if (device.is_virtual || device.type != type) continue;
    if (best == nullptr || rank(device) < rank(*best)) best = &device;
  }
  return best;
}

std::string_view preferred_type(EpDevicePolicy policy) {
  switch (policy) {
    case EpDevicePolicy::kPreferNpu:
    case EpDevicePolicy::kMaxEfficiency:
    case EpDevicePolicy::kMinOverallPower:
      return "npu";
    case EpDevicePolicy::kPreferGpu:
    case EpDevicePolicy::kMaxPerformance:
      return "gpu";
    case EpDevicePolicy::kDefault:
    case EpDevicePolicy::kPreferCpu:
      break;
  }
  return "cpu";
}

}  // namespace

EpDeviceList list_all_devices(EnvironmentState& environment, Listing listing,
                              const SessionConfig* config) {
  const std::shared_ptr<const manifest::SearchResult> plugins = environment.plugins.all();
  const manifest::SearchResult& search = *plugins;
  PluginLoader loader(environment, config);
  EpDeviceList all;
  std::set<std::string> asked;
  for (const manifest::FoundPlugin& found : search.found) {
    const std::string& provider = found.manifest.provider;
    if (!asked.insert(provider).second) continue;
    const auto ask = [&](const std::shared_ptr<const plugin::LoadedPlugin>& plugin) {
      return list(plugin, listing);
    };
    auto candidates = manifest::find_candidates(search, {.name = provider});
    auto devices = candidates.ok() ? with_usable_plugin(loader, *candidates, ask)
                                   : Result<std::vector<EpDevice>>(candidates.status());
    if (!devices.ok()) {
      all.failed.push_back({provider, devices.status()});
      continue;
    }
    std::ranges::move(*devices, std::back_inserter(all.devices));
  }
  return all;
}

std::vector<ProviderRequest> choose_by_policy(std::span<const EpDevice> devices,
                                              EpDevicePolicy policy) {
  std::vector<ProviderRequest> requests;
  const std::string_view preferred = preferred_type(policy);
  for (const std::string_view type : {preferred, std::string_view("cpu")}) {
    const EpDevice* const best = best_of(devices, type);
    if (best == nullptr) continue;
    const auto known = std::ranges::find(requests, best->provider, &ProviderRequest::name);
    if (known == requests.end()) {
      requests.push_back({.name = best->provider, .devices = {best->id}});
    } else if (known->devices.back() != best->id) {
      known->devices.push_back(best->id);
    }
  }
  return requests;
}

}  // namespace ephost::session
