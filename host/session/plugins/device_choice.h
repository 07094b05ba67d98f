// The choice of the provider's devices that a session uses.
#pragma once

#include <ephost/status.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/bridge/collect/device_list.h"

namespace ephost::session {

// "cpu", "gpu", "npu" or "other".
[[nodiscard]] std::string_view device_type_name(int32_t type);

// The devices of `listed` that `wanted` names, in its order, each once. An entry is the id of a
// device; or a type, which means all devices of that type; or a type and a number, such as "gpu:1",
// which counts from 0 in the order of the list. Virtual devices are only found by their id. If
// nothing is wanted: all devices that are not virtual. INVALID_ARGUMENT for an entry that finds no
// device; the message lists those that there are.
[[nodiscard]] Result<std::vector<bridge::DeviceInfo>> choose_devices(
    std::string_view provider, std::vector<bridge::DeviceInfo> listed,
    std::span<const std::string> wanted);

}  // namespace ephost::session
