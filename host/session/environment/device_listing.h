// The devices of all installed providers, and the choice among them by a policy.
#pragma once

#include <ephost/status.h>
#include <ephost/types/ep_device.h>

#include <span>
#include <vector>

#include "host/session/config/given_options.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment.h"

namespace ephost::session {

// The functions of these names in <ephost/environment.h>.
[[nodiscard]] std::string_view ep_device_policy_name(EpDevicePolicy policy);
[[nodiscard]] Result<EpDevicePolicy> parse_ep_device_policy(std::string_view name);

enum class Listing { kDevices, kTargets };

// Asks the best plugin that works of each provider of the environment, as the session wants it:
// where its plugins run, and whose signatures they need. `config` may be null.
[[nodiscard]] EpDeviceList list_all_devices(EnvironmentState& environment, Listing listing,
                                            const SessionConfig* config = nullptr);

// What the policy chooses of the devices: one request for each provider, in order of priority.
// Empty if there is nothing to choose.
[[nodiscard]] std::vector<ProviderRequest> choose_by_policy(std::span<const EpDevice> devices,
                                                            EpDevicePolicy policy);

}  // namespace ephost::session
