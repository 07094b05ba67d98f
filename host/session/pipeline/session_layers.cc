#include "host/session/pipeline/session_layers.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "host/base/text.h"
#include "host/layers/trace/trace.h"
#include "host/layers/trace/trace_file.h"
#include "host/layers/validate/validate.h"
#include "host/session/config/config_setters.h"

namespace ephost::session {

// `name` is one of layers::kLayerNames.
Result<std::shared_ptr<layers::Layer>> SessionLayers::make_one(std::string_view name,
                                                               const SessionConfig& config) const {
  if (name == "validate") return layers::make_validate(config.validate);
  EPHOST_ASSIGN_OR_RETURN(auto write,
                          layers::open_trace(config.trace_file, config.trace_until_crash));
  return layers::make_trace({.format = config.trace_format,
                             .graph_reads = config.trace_graph_reads,
                             .write = std::move(write),
                             .profiler = profiler_});
}

Result<std::vector<std::shared_ptr<layers::Layer>>> SessionLayers::make(
    const Names& names, const SessionConfig& config) {
  std::vector<std::shared_ptr<layers::Layer>> layers;
  for (const std::string& name : names) {
    std::shared_ptr<layers::Layer>& layer = made_[name];
    if (layer == nullptr) {
      EPHOST_ASSIGN_OR_RETURN(layer, make_one(name, config));
    }
    layers.push_back(layer);
  }
  return layers;
}

Result<std::shared_ptr<const SessionLayers>> SessionLayers::create(
    const SessionConfig& config, const std::shared_ptr<Profiler>& profiler) {
  auto made = std::make_shared<SessionLayers>();
  made->profiler_ = profiler;
  Names common = config.layers.value_or(Names());
  if (!config.layers && config.provider_layers.empty()) {
    const char* const variable = ::secure_getenv("EPHOST_LAYERS");
    if (variable != nullptr) {
      EPHOST_ASSIGN_OR_RETURN(common, setters::layer_names("EPHOST_LAYERS", variable));
    }
  }
  EPHOST_ASSIGN_OR_RETURN(made->common_, made->make(common, config));
  for (const auto& [provider, names] : config.provider_layers) {
    EPHOST_ASSIGN_OR_RETURN(made->own_[provider], made->make(names, config));
  }
  return std::shared_ptr<const SessionLayers>(std::move(made));
}

std::shared_ptr<const plugin::LoadedPlugin> SessionLayers::over(
    std::shared_ptr<const plugin::LoadedPlugin> plugin) const {
  const manifest::Manifest& manifest = plugin->manifest;
  const auto own = std::ranges::find_if(own_, [&](const auto& entry) {
    return equal_ignoring_case(entry.first, manifest.name) ||
           equal_ignoring_case(entry.first, manifest.provider);
  });
  return layers::with_layers(std::move(plugin), own == own_.end() ? common_ : own->second);
}

}  // namespace ephost::session
