// A plugin that runs in worker processes, as a loaded plugin: its tables look like those of any
// other, and each function of them is a call of a worker. One worker serves the functions that need
// no provider, and the first provider; each further provider has one of its own. A worker that has
// ended fails its providers; new ones get a new worker.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/manifest/search.h"
#include "host/plugin/loaded_plugin.h"
#include "host/plugin/negotiate.h"
#include "host/worker/process/sandbox.h"
#include "host/worker/tables/isolation.h"

namespace ephost::worker {

// Loads plugins in workers; does for them what plugin::Registry does for others. Safe from any
// thread.
class RemoteRegistry {
 public:
  explicit RemoteRegistry(plugin::HostOffer host) : host_(std::move(host)) {}

  // The result has no `library`, as nothing of it is in this process. A plugin that is still in
  // use with the same options is not loaded again, unless they ask for the health of its workers.
  // Refusals are not remembered. EP_FAIL names library, manifest and reason.
  [[nodiscard]] Result<std::shared_ptr<const plugin::LoadedPlugin>> load(
      const manifest::FoundPlugin& plugin, const IsolationOptions& options);

 private:
  // Plugins are loaded side by side, each of them once.
  struct Entry {
    std::mutex mutex;
    std::weak_ptr<const plugin::LoadedPlugin> plugin;
  };

  [[nodiscard]] std::shared_ptr<Entry> entry_of(const std::string& key);

  const plugin::HostOffer host_;
  std::mutex mutex_;  // of the map
  std::map<std::string, std::shared_ptr<Entry>> plugins_;
};

}  // namespace ephost::worker
