// Devices of providers in the reports of commands.
#pragma once

#include <ephost/types/ep_device.h>

#include <span>
#include <string>

#include "host/cli/report/json.h"

namespace ephost::cli {

[[nodiscard]] Json devices_json(std::span<const EpDevice> devices);

// A table with one device in each line; empty text for no devices. `verbose` adds the metadata.
[[nodiscard]] std::string devices_table(std::span<const EpDevice> devices, bool verbose);

}  // namespace ephost::cli
