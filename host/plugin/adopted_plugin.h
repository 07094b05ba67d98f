// The tables of a plugin, as the host adopted them (host/plugin/negotiate.h).
#pragma once

#include <ephost/ext/layer.h>
#include <ephost/plugin_abi.h>

#include <cstdint>

namespace ephost::plugin {

// Copies of the library's tables, zero where the library is older than this host. Their pointers
// point into the library.
struct AdoptedPlugin {
  eph_plugin_preamble preamble = {};
  uint32_t abi_minor = 0;  // the version that both sides use
  eph_plugin_api api = {};
  eph_provider_api provider = {};  // the one that the manifest names; none for a layer
  eph_layer_api layer = {};        // of a manifest of a layer
  // The library's own tables, which the functions of `api`, `provider` and `layer` take as `self`.
  // The host does not read them again.
  const eph_plugin_api* api_self = nullptr;
  const eph_provider_api* provider_self = nullptr;
  const eph_layer_api* layer_self = nullptr;
};

}  // namespace ephost::plugin
