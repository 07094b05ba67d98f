// The layers that a session puts over its providers, as its configuration asks for them. Called by
// the pipeline, once for a session: its specialisations have the same ones.
#pragma once

#include <ephost/status.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/profiler.h"
#include "host/layers/layer.h"
#include "host/plugin/registry.h"
#include "host/session/session_config.h"

namespace ephost::session {

class SessionLayers {
 public:
  // Without an entry, the environment variable EPHOST_LAYERS says which layers there are.
  // INVALID_ARGUMENT for an unknown layer; FAIL if a file of a layer cannot be opened. `profiler`
  // may be null.
  static Result<std::shared_ptr<const SessionLayers>> create(
      const SessionConfig& config, const std::shared_ptr<Profiler>& profiler);

  // The plugin with the layers of its provider over it.
  [[nodiscard]] std::shared_ptr<const plugin::LoadedPlugin> over(
      std::shared_ptr<const plugin::LoadedPlugin> plugin) const;

 private:
  using Names = std::vector<std::string>;
  [[nodiscard]] Result<std::shared_ptr<layers::Layer>> make_one(std::string_view name,
                                                                const SessionConfig& config) const;
  Result<std::vector<std::shared_ptr<layers::Layer>>> make(const Names& names,
                                                           const SessionConfig& config);

  std::map<std::string, std::shared_ptr<layers::Layer>> made_;
  std::vector<std::shared_ptr<layers::Layer>> common_;
  // By the provider's type name or short name, as the user wrote it.
  std::map<std::string, std::vector<std::shared_ptr<layers::Layer>>> own_;
  std::shared_ptr<Profiler> profiler_;
};

}  // namespace ephost::session
