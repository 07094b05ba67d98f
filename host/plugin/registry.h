// Loads the plugins that a search has found when a session first asks for them, and remembers why
// it refused some. A refused plugin never affects the others. Which plugin is wanted is decided by
// host/manifest; providers are called by host/bridge.
#pragma once

#include <ephost/ext/layer.h>
#include <ephost/plugin_abi.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/search.h"
#include "host/plugin/library.h"
#include "host/plugin/negotiate.h"

namespace ephost::plugin {

// A plugin that passed every check. It keeps its library loaded; everything that was made through
// its tables must be destroyed before the last reference is released.
struct LoadedPlugin {
  // First, so that it is destroyed last: the other members point into it.
  std::shared_ptr<const Library> library;
  manifest::Manifest manifest;
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

struct Refusal {
  std::filesystem::path manifest_file;
  Status reason;
};

// Thread-safe; loading is serialised in the whole process.
class Registry {
 public:
  explicit Registry(HostOffer host = {}) : host_(std::move(host)) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Checks the library against the manifest, including its checksum, loads it and negotiates. A
  // plugin that is still in use, or a library that another provider uses, is not loaded again. A
  // refusal holds until it is forgotten; its message names library, manifest, reason and
  // remedy.
  [[nodiscard]] Result<std::shared_ptr<const LoadedPlugin>> load(
      const manifest::FoundPlugin& plugin);

  // Forgets a refusal, so that the plugin of that manifest may be loaded once it is repaired.
  void forget(const std::filesystem::path& manifest_file);

  // What `load` would refuse without running code of the plugin: ABI version, required extensions,
  // and a library that is missing, truncated, of the wrong kind or without its checksum. Reads the
  // whole library if the manifest states a checksum.
  [[nodiscard]] Status check(const manifest::FoundPlugin& plugin) const;

  // In the order of the manifest files' paths.
  [[nodiscard]] std::vector<Refusal> refusals() const;

 private:
  Result<std::shared_ptr<const LoadedPlugin>> load_unguarded(const manifest::FoundPlugin& plugin);
  Result<std::shared_ptr<const Library>> open_library(MappedFile file);

  HostOffer host_;
  // Guarded by the load lock. Weak, so that only users keep a plugin loaded.
  std::map<std::filesystem::path, std::weak_ptr<const LoadedPlugin>> plugins_;  // by manifest
  std::map<std::filesystem::path, std::weak_ptr<const Library>> libraries_;
  std::map<std::filesystem::path, Status> refusals_;
};

}  // namespace ephost::plugin
