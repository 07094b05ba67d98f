// A loader of the plugins of one provider, like PluginLoader, but the first of them while the
// caller is busy with something else: starting a worker takes milliseconds, in which its host has
// nothing to do for it.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <future>
#include <memory>

#include "host/manifest/search.h"
#include "host/plugin/loaded_plugin.h"
#include "host/session/environment/plugin_loader.h"

namespace ephost::session {

// Used by one thread. What it has begun ends before the object does.
class EarlyLoader {
 public:
  // Borrows all; begins to load the plugin if it goes into a worker, and else leaves it to `load`.
  // `workers`: see PluginLoader.
  EarlyLoader(EnvironmentState& environment, const SessionConfig* config, ProviderWorkers* workers,
              const manifest::FoundPlugin& first);

  [[nodiscard]] const std::filesystem::path& manifest() const { return manifest_; }
  // As PluginLoader. The plugin that was begun is waited for, once.
  [[nodiscard]] Result<std::shared_ptr<const plugin::LoadedPlugin>> load(
      const manifest::FoundPlugin& plugin,
      plugin::Quarantined quarantined = plugin::Quarantined::kRefused);
  void note_workers(bool was_created) { loader_.note_workers(was_created); }

 private:
  PluginLoader loader_;
  const std::filesystem::path manifest_;  // of the first plugin
  std::future<Result<std::shared_ptr<const plugin::LoadedPlugin>>> first_;
};

}  // namespace ephost::session
