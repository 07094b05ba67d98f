// The loader of plugins where the session wants them: in the host's process, or in a worker. The
// strictest of what was asked for wins: by the session for the provider or for all, by the
// environment and its variable EPHOST_ISOLATION, by the machine, and by the plugin's manifest.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "host/manifest/isolation.h"
#include "host/manifest/search.h"
#include "host/plugin/loaded_plugin.h"
#include "host/plugin/quarantine.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment.h"
#include "host/session/plugins/provider_workers.h"
#include "host/trust/quarantine_policy.h"
#include "host/worker/tables/isolation.h"

namespace ephost::session {

// The library of a plugin that is loaded, here or in a worker; of the latter, as its manifest says
// now.
[[nodiscard]] Result<std::filesystem::path> library_of(const plugin::LoadedPlugin& plugin);

class PluginLoader {
 public:
  // Borrows all three. `config` is the session's; null: there is none. `workers`: where those of a
  // provider are noted; may be null.
  explicit PluginLoader(EnvironmentState& environment, const SessionConfig* config = nullptr,
                        ProviderWorkers* workers = nullptr)
      : environment_(environment), config_(config), workers_(workers) {}
  // To inspect plugins as a session with this configuration would load them: at least as isolated
  // as `least` says, with its limits of calls. A plugin that exceeds one that is shorter than the
  // default has not failed.
  PluginLoader(EnvironmentState& environment, const SessionConfig& config,
               worker::IsolationOptions least)
      : environment_(environment),
        config_(&config),
        workers_(nullptr),
        is_inspection_(true),
        least_(std::move(least)) {}

  // As plugin::Registry::load, with the session's policy for signatures. INVALID_ARGUMENT for a
  // wrong EPHOST_ISOLATION. Layers are loaded into the host's process.
  [[nodiscard]] Result<std::shared_ptr<const plugin::LoadedPlugin>> load(
      const manifest::FoundPlugin& plugin,
      plugin::Quarantined quarantined = plugin::Quarantined::kRefused);

  // As plugin::Registry::check, with the session's policies for signatures and quarantine.
  [[nodiscard]] Status check(const manifest::FoundPlugin& plugin) const;

  // Notes the workers of the plugins that were loaded: of the last one, if the provider was created
  // from it, or else of all, as none of them could be used.
  void note_workers(bool was_created);

  // How `load` isolates the plugin of this manifest; a layer as if it were one of a provider.
  [[nodiscard]] Result<worker::IsolationOptions> options_for(
      const manifest::Manifest& manifest) const;

 private:
  // The strictest of process and session.
  [[nodiscard]] trust::QuarantinePolicy quarantine_policy() const;
  [[nodiscard]] SignaturePolicy signatures() const;
  // By the session's policy where that is stricter than the process's, which the registry has.
  [[nodiscard]] Status check_quarantine(const manifest::FoundPlugin& plugin,
                                        plugin::Quarantined quarantined) const;
  // Tells `options` what to record of workers that fail.
  void record_failures(worker::IsolationOptions& options) const;

  EnvironmentState& environment_;
  const SessionConfig* const config_;
  ProviderWorkers* const workers_;
  const bool is_inspection_ = false;
  const worker::IsolationOptions least_;
  struct Loaded {
    manifest::Manifest manifest;
    std::shared_ptr<const worker::WorkerHealth> health;  // null for one in the host's process
  };
  std::vector<Loaded> loaded_;  // while `workers_` wants to know
};

}  // namespace ephost::session
