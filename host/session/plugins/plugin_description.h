// Manifests and devices as the public API describes them.
#pragma once

#include <ephost/types/environment.h>
#include <ephost/types/ep_device.h>

#include "host/bridge/collect/device_list.h"
#include "host/manifest/search.h"

namespace ephost::session {

[[nodiscard]] InstalledPlugin describe_plugin(const manifest::FoundPlugin& found);
[[nodiscard]] EpDevice describe_device(const manifest::Manifest& manifest,
                                       const bridge::DeviceInfo& device);

}  // namespace ephost::session
