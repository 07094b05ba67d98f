// A plugin's verdict on whether a payload of the context cache can be used on a device. The payload
// itself and a provider are not needed.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <span>
#include <string_view>

#include "host/bridge/collect/device_list.h"
#include "host/bridge/extensions/host_services.h"
#include "host/plugin/loaded_plugin.h"

namespace ephost::bridge {

enum class Compatibility { kNotApplicable, kOptimal, kPreferRecompilation, kUnsupported };

// Judges the compatibility text of a payload for a session with these devices: the best verdict for
// one of them, since a provider may use any device that it was given. kOptimal if the plugin cannot
// judge, or if there is no device to judge for: then restoring the payload shows. A verdict that
// the host does not know counts as kUnsupported.
[[nodiscard]] Result<Compatibility> validate(const plugin::LoadedPlugin& plugin,
                                             const HostServices& services,
                                             std::span<const DeviceInfo> devices,
                                             std::string_view text);

}  // namespace ephost::bridge
