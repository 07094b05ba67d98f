// The layers that a session puts over its providers, as its configuration asks for them. Called by
// the pipeline, once for a session: its specialisations have the same ones.
#pragma once

#include <ephost/status.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "host/base/profiler.h"
#include "host/layers/layer.h"
#include "host/layers/validate/runs/reference.h"
#include "host/plugin/loaded_plugin.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment.h"
#include "host/session/model/model_files.h"

namespace ephost::session {

class SessionLayers {
 public:
  // Without an entry, the environment variable EPHOST_LAYERS says which layers there are: those of
  // the host, and those of plugins of the environment, whose files are added to `files`.
  // INVALID_ARGUMENT for an unknown layer; EP_FAIL for one that cannot be loaded; FAIL if a file of
  // a layer cannot be opened. `make_reference` is for the layer "validate"; `profiler` may be null.
  static Result<std::shared_ptr<const SessionLayers>> create(
      EnvironmentState& environment, const SessionConfig& config,
      const layers::MakeReference& make_reference, const std::shared_ptr<Profiler>& profiler,
      OperationFiles& files);

  // The plugin with the layers of its provider over it. Fails where a layer of a plugin does. Warns
  // once of a layer that sees less of a plugin in a worker.
  [[nodiscard]] Result<std::shared_ptr<const plugin::LoadedPlugin>> over(
      std::shared_ptr<const plugin::LoadedPlugin> plugin) const;

 private:
  using Names = std::vector<std::string>;
  struct Maker;
  void warn_of_worker(const manifest::Manifest& manifest) const;

  std::vector<std::shared_ptr<layers::Layer>> common_;
  // By the provider's type name or short name, as the user wrote it.
  std::map<std::string, std::vector<std::shared_ptr<layers::Layer>>> own_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> warned_;  // of these providers
};

}  // namespace ephost::session
