// Negotiation of a minor version of the ABI with a loaded library, whose answers are checked
// against the manifest that promised them. Pure except for the plugin's own get_api; loads nothing.
// Called by the registry.
//
// Every refusal is EP_FAIL, names both values that differ, and says what to do. The registry adds
// the names of the files.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/manifest.h"
#include "host/plugin/adopted_plugin.h"

namespace ephost::plugin {

// What this host brings to the negotiation.
struct HostOffer {
  // The minor versions that it supports, both inclusive.
  uint32_t minor_min = 0;
  uint32_t minor_max = EPH_ABI_MINOR;
  uint64_t build_flags = EPH_BUILD_FLAGS;
  // The optional interfaces that it offers to plugins, as "name/revision".
  std::vector<std::string> extensions;
};

// Checks what the manifest alone declares, before anything is loaded: ABI version and required
// extensions.
[[nodiscard]] Status check_manifest(const manifest::Manifest& manifest, const HostOffer& host);

// `preamble` is the result of eph_plugin_v1. [load]
[[nodiscard]] Result<AdoptedPlugin> negotiate(const eph_plugin_preamble* preamble,
                                              const manifest::Manifest& manifest,
                                              const HostOffer& host);

}  // namespace ephost::plugin
