// What loading a plugin gives (host/plugin/registry.h), and what everything else calls it through.
#pragma once

#include <ephost/ext/layer.h>
#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/manifest/manifest.h"

namespace ephost::plugin {

class CrashRecord;
class Library;

// A plugin that passed every check. It keeps its library loaded; everything that was made through
// its tables must be destroyed before the last reference is released.
struct LoadedPlugin {
  // Crashes are recorded until the library is gone.
  std::shared_ptr<const CrashRecord> crash_record;
  // Before the other members, so that it is destroyed after them: they point into it.
  std::shared_ptr<const Library> library;
  manifest::Manifest manifest;
  std::string manifest_text;  // which a signature may cover
  // What keeps a signature of the manifest from covering everything that was loaded.
  Status coverage;
  eph_plugin_preamble preamble = {};
  uint32_t abi_minor = 0;
  eph_plugin_api api = {};
  eph_provider_api provider = {};  // the one that the manifest names; none for a layer
  eph_layer_api layer = {};        // of a manifest of a layer
  // The plugin's own tables, which the functions of `api`, `provider` and `layer` take as `self`.
  // The host does not read them again.
  const eph_plugin_api* api_self = nullptr;
  const eph_provider_api* provider_self = nullptr;
  const eph_layer_api* layer_self = nullptr;
  // The names of the layers that `provider` has over the plugin's own table, the one nearest to the
  // host first (host/layers).
  std::vector<std::string> layers;
  // Name and version of those that may change what is compiled, in the same order.
  std::vector<std::string> cache_ingredients;
};

}  // namespace ephost::plugin
