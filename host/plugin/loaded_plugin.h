// A loaded plugin, as the registry gives it (host/plugin/registry.h) and all its callers use it.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <string>
#include <vector>

#include "host/manifest/manifest.h"
#include "host/plugin/adopted_plugin.h"

namespace ephost::plugin {

class CrashRecord;
class Library;

// A plugin that passed every check. It keeps its library loaded; everything that was made through
// its tables must be destroyed before the last reference is released.
struct LoadedPlugin : AdoptedPlugin {
  // Crashes are recorded until the library is gone.
  std::shared_ptr<const CrashRecord> crash_record;
  // Before the other members, so that it is destroyed after them: they point into it.
  std::shared_ptr<const Library> library;
  manifest::Manifest manifest;
  std::string manifest_text;  // which a signature may cover
  // What keeps a signature of the manifest from covering everything that was loaded.
  Status coverage;
  // The names of the layers that `provider` has over the plugin's own table, the one nearest to the
  // host first (host/layers).
  std::vector<std::string> layers;
  // Name and version of those that may change what is compiled, in the same order.
  std::vector<std::string> cache_ingredients;
};

}  // namespace ephost::plugin
