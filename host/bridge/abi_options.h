// Options of a provider, as the ABI passes them to its `create`.
#pragma once

#include <ephost/plugin_abi.h>

#include <span>
#include <vector>

#include "host/manifest/options.h"

namespace ephost::bridge {

// The text is borrowed from the options.
[[nodiscard]] std::vector<eph_option> to_abi(std::span<const manifest::TypedOption> options);

}  // namespace ephost::bridge
