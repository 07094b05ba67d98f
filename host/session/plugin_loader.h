// Loads plugins where the session wants them: in the host's process, or in a worker. The strictest
// of what was asked for wins: by the session for the provider or for all, by the environment and
// its variable EPHOST_ISOLATION, by the machine, and by the plugin's manifest.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/manifest/isolation.h"
#include "host/manifest/search.h"
#include "host/plugin/registry.h"
#include "host/session/environment_state.h"
#include "host/session/recovery/provider_workers.h"
#include "host/session/session_config.h"
#include "host/worker/tables/isolation.h"

namespace ephost::session {

// The library of a plugin that is loaded, here or in a worker; of the latter, as its manifest says
// now.
[[nodiscard]] Result<std::filesystem::path> library_of(const plugin::LoadedPlugin& plugin);

class PluginLoader {
 public:
  // Without a session: for commands that query a plugin, which want it at least as isolated as
  // `least` says. Borrows the environment, as the other constructor borrows both.
  explicit PluginLoader(Environment::State& environment, worker::IsolationOptions least = {})
      : environment_(environment), config_(nullptr), workers_(nullptr), least_(std::move(least)) {}
  // `workers`: where those of a provider are noted; may be null.
  PluginLoader(Environment::State& environment, const SessionConfig* config,
               ProviderWorkers* workers = nullptr)
      : environment_(environment), config_(config), workers_(workers) {}

  // As plugin::Registry::load, with the session's policy for signatures. INVALID_ARGUMENT for a
  // wrong EPHOST_ISOLATION. Layers are loaded into the host's process.
  [[nodiscard]] Result<std::shared_ptr<const plugin::LoadedPlugin>> load(
      const manifest::FoundPlugin& plugin);

  // Notes the workers of the plugins that were loaded: of the last one, if the provider was created
  // from it, or else of all, as none of them could be used.
  void note_workers(bool was_created);

  // How `load` isolates the plugin of this manifest; a layer as if it were one of a provider.
  [[nodiscard]] Result<worker::IsolationOptions> options_for(
      const manifest::Manifest& manifest) const;

 private:
  // With the strictest policy of process and session; nothing if that is the process's, which the
  // registry has.
  [[nodiscard]] std::optional<plugin::Quarantine> stricter_quarantine() const;

  Environment::State& environment_;
  const SessionConfig* const config_;
  ProviderWorkers* const workers_;
  const worker::IsolationOptions least_;
  struct Loaded {
    manifest::Manifest manifest;
    std::shared_ptr<const worker::WorkerHealth> health;  // null for one in the host's process
  };
  std::vector<Loaded> loaded_;  // while `workers_` wants to know
};

}  // namespace ephost::session
