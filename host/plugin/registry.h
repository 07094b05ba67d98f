// Loads plugins that a search has found, when a session first asks for them, and keeps the reason
// of each refusal. A refused plugin never touches the others. It decides nothing about which plugin
// is wanted (host/manifest does) and calls no provider (host/bridge does).
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/search.h"
#include "host/plugin/library.h"
#include "host/plugin/negotiate.h"

namespace ephost::plugin {

// A plugin that passed every check. Whoever holds one keeps its library loaded; everything that was
// made through its tables must be gone before the last one goes.
struct LoadedPlugin {
  // First, so that it goes last: the rest points into it.
  std::shared_ptr<const Library> library;
  manifest::Manifest manifest;
  eph_plugin_preamble preamble = {};
  uint32_t abi_minor = 0;
  eph_plugin_api api = {};
  eph_provider_api provider = {};  // the manifest's
};

struct Refusal {
  std::filesystem::path manifest_file;
  Status reason;
};

// All functions may be called from any thread; loading is serialised in the whole process.
class Registry {
 public:
  explicit Registry(HostOffer host = {}) : host_(std::move(host)) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Checks what the manifest states, its checksum among it, loads the library and negotiates. A
  // plugin that is still in use, and a library that another provider uses, is not loaded again. A
  // refusal stands for the life of the registry; its message names library, manifest, reason and
  // remedy.
  [[nodiscard]] Result<std::shared_ptr<const LoadedPlugin>> load(
      const manifest::FoundPlugin& plugin);

  // By manifest file.
  [[nodiscard]] std::vector<Refusal> refusals() const;

 private:
  Result<std::shared_ptr<const LoadedPlugin>> load_unguarded(const manifest::FoundPlugin& plugin);
  Result<std::shared_ptr<const Library>> open_library(MappedFile file);

  HostOffer host_;
  // Guarded by the load lock. Weak: only users keep a plugin loaded.
  std::map<std::filesystem::path, std::weak_ptr<const LoadedPlugin>> plugins_;  // by manifest
  std::map<std::filesystem::path, std::weak_ptr<const Library>> libraries_;
  std::map<std::filesystem::path, Status> refusals_;
};

}  // namespace ephost::plugin
