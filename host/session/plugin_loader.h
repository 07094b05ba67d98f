// Loads plugins where the session wants them: in the host's process, or in a worker. The strictest
// of what was asked for wins: by the session for the provider or for all, and by the environment
// variable EPHOST_ISOLATION.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <memory>
#include <string_view>

#include "host/manifest/isolation.h"
#include "host/manifest/search.h"
#include "host/plugin/registry.h"
#include "host/session/environment_state.h"
#include "host/session/session_config.h"
#include "host/worker/tables/isolation.h"

namespace ephost::session {

// The library of a plugin that is loaded, here or in a worker; of the latter, as its manifest says
// now.
[[nodiscard]] Result<std::filesystem::path> library_of(const plugin::LoadedPlugin& plugin);

class PluginLoader {
 public:
  // Without a session: for commands that query a plugin. Borrows both.
  explicit PluginLoader(Environment::State& environment) : PluginLoader(environment, nullptr) {}
  PluginLoader(Environment::State& environment, const SessionConfig* config)
      : environment_(environment), config_(config) {}

  // As plugin::Registry::load, with the session's policy for signatures. INVALID_ARGUMENT for a
  // wrong EPHOST_ISOLATION. Layers are loaded into the host's process.
  [[nodiscard]] Result<std::shared_ptr<const plugin::LoadedPlugin>> load(
      const manifest::FoundPlugin& plugin);

 private:
  [[nodiscard]] Result<worker::IsolationOptions> options_for(
      const manifest::Manifest& manifest) const;

  Environment::State& environment_;
  const SessionConfig* const config_;
};

}  // namespace ephost::session
