// Agrees with a loaded library on a minor version of the ABI, and checks its answers against the
// manifest that promised them. Pure but for the plugin's own get_api; loads nothing. Called by the
// registry.
//
// Each refusal is EP_FAIL, names what differs on both sides, and says what to do. The registry adds
// the files.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/manifest.h"

namespace ephost::plugin {

// What this host brings to the negotiation.
struct HostOffer {
  // The minor versions that it speaks, both inclusive.
  uint32_t minor_min = 0;
  uint32_t minor_max = EPH_ABI_MINOR;
  uint64_t build_flags = EPH_BUILD_FLAGS;
  // The optional interfaces that it has for plugins, as "name/revision".
  std::vector<std::string> extensions;
};

// Copies of what the library handed out, zero where it is older than this host. The pointers inside
// lead into the library.
struct AdoptedPlugin {
  eph_plugin_preamble preamble = {};
  uint32_t minor = 0;  // the version that both sides use
  eph_plugin_api api = {};
  eph_provider_api provider = {};  // the one that the manifest names
};

// What the manifest alone tells, before anything is loaded: ABI and required extensions.
[[nodiscard]] Status check_manifest(const manifest::Manifest& manifest, const HostOffer& host);

// `preamble` is what eph_plugin_v1 returned. [load]
[[nodiscard]] Result<AdoptedPlugin> negotiate(const eph_plugin_preamble* preamble,
                                              const manifest::Manifest& manifest,
                                              const HostOffer& host);

}  // namespace ephost::plugin
