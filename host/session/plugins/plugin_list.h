// The plugins of an environment: those that its search has found, and those that were registered
// since.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/manifest/search.h"
#include "host/plugin/loaded_plugin.h"

namespace ephost::session {

// Safe to use from any thread.
class PluginList {
 public:
  PluginList() : all_(std::make_shared<Indexed>(manifest::SearchResult())) {}

  // To be called once, before any other function.
  void set(manifest::SearchResult found);

  // All plugins as they are now; the list does not change later.
  [[nodiscard]] std::shared_ptr<const manifest::SearchResult> all() const;
  // The plugin of that manifest, with a provider or a layer, as it is now; null if there is none.
  [[nodiscard]] std::shared_ptr<const manifest::FoundPlugin> find(
      const std::filesystem::path& manifest) const;

  // INVALID_ARGUMENT if the name is taken, or the manifest belongs to the environment already.
  [[nodiscard]] Status check_new(const std::string& name,
                                 const manifest::FoundPlugin& plugin) const;
  // The same check; then adds the plugin and keeps it loaded.
  [[nodiscard]] Status add(std::string name, std::shared_ptr<const plugin::LoadedPlugin> loaded,
                           manifest::FoundPlugin plugin);
  // Removes a plugin that was added, and returns its manifest. NOT_FOUND if no plugin has that
  // name.
  [[nodiscard]] Result<std::filesystem::path> remove(const std::string& name);

 private:
  struct Registered {
    std::shared_ptr<const plugin::LoadedPlugin> loaded;
    std::filesystem::path manifest;
  };
  // Constant, so that references into it stay valid.
  struct Indexed {
    explicit Indexed(manifest::SearchResult result);
    manifest::SearchResult result;
    std::map<std::filesystem::path, const manifest::FoundPlugin*> by_manifest;
  };
  [[nodiscard]] Status check_new_locked(const std::string& name,
                                        const manifest::FoundPlugin& plugin) const;

  mutable std::mutex mutex_;
  std::shared_ptr<const Indexed> all_;
  std::map<std::string, Registered> registered_;
};

// The plugin that a path names: that of a manifest, or of a shared library with one manifest beside
// it.
[[nodiscard]] Result<manifest::FoundPlugin> find_plugin_at(const std::filesystem::path& path);

}  // namespace ephost::session
