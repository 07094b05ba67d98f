#include "host/bridge/compatibility.h"

#include <optional>

#include "host/bridge/abi_devices.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/slot_call.h"

namespace ephost::bridge {
namespace {

Compatibility to_compatibility(int32_t verdict) {
  switch (verdict) {
    case EPH_COMPATIBILITY_NOT_APPLICABLE:
      return Compatibility::kNotApplicable;
    case EPH_COMPATIBILITY_OPTIMAL:
      return Compatibility::kOptimal;
    case EPH_COMPATIBILITY_PREFER_RECOMPILATION:
      return Compatibility::kPreferRecompilation;
    default:
      return Compatibility::kUnsupported;
  }
}

// Lower is better.
int rank(Compatibility verdict) {
  switch (verdict) {
    case Compatibility::kOptimal:
      return 0;
    case Compatibility::kPreferRecompilation:
      return 1;
    case Compatibility::kUnsupported:
      return 2;
    case Compatibility::kNotApplicable:
      break;
  }
  return 3;
}

}  // namespace

Result<Compatibility> validate(const plugin::LoadedPlugin& plugin, const HostServices& services,
                               std::span<const DeviceInfo> devices, std::string_view text) {
  if (plugin.provider.validate == nullptr || devices.empty()) return Compatibility::kOptimal;
  const AbiDevices records(devices);
  std::optional<Compatibility> best;
  for (uint64_t i = 0; i < records.size(); ++i) {
    int32_t verdict = EPH_COMPATIBILITY_UNSUPPORTED;
    EPHOST_RETURN_IF_ERROR(
        call_slot({plugin.manifest.provider, "validate", "device", devices[i].id},
                  "judging the compatibility of a context", plugin.provider.validate,
                  plugin.provider_self, &services, records.data() + i, to_abi(text), &verdict));
    const Compatibility judged = to_compatibility(verdict);
    if (!best || rank(judged) < rank(*best)) best = judged;
  }
  return *best;
}

}  // namespace ephost::bridge
