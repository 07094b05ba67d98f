// Agrees with a loaded library on a minor version of the ABI, and checks its answers against the
// manifest that promised them. Pure except for the plugin's own get_api; loads nothing. Called by
// the registry.
//
// Every refusal is EP_FAIL, names both values that differ, and says what to do. The registry adds
// the names of the files.
#pragma once

#include <ephost/ext/layer.h>
#include <ephost/plugin_abi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/manifest.h"

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

// Copies of the library's tables, zero where the library is older than this host. Their pointers
// point into the library.
struct AdoptedPlugin {
  eph_plugin_preamble preamble = {};
  uint32_t minor = 0;  // the version that both sides use
  eph_plugin_api api = {};
  eph_provider_api provider = {};  // the one that the manifest names; none for a layer
  eph_layer_api layer = {};        // of a manifest of a layer
  // The library's own tables, which their functions take as `self`.
  const eph_plugin_api* api_self = nullptr;
  const eph_provider_api* provider_self = nullptr;
  const eph_layer_api* layer_self = nullptr;
};

// Checks what the manifest alone states, before anything is loaded: ABI version and required
// extensions.
[[nodiscard]] Status check_manifest(const manifest::Manifest& manifest, const HostOffer& host);

// `preamble` is the result of eph_plugin_v1. [load]
[[nodiscard]] Result<AdoptedPlugin> negotiate(const eph_plugin_preamble* preamble,
                                              const manifest::Manifest& manifest,
                                              const HostOffer& host);

}  // namespace ephost::plugin
