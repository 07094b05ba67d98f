#include "host/session/layers/session_layers.h"

#include <algorithm>
#include <utility>

#include "host/base/environment.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/layers/regroup/regroup.h"
#include "host/layers/trace/trace.h"
#include "host/layers/trace/trace_file.h"
#include "host/layers/validate/validate.h"
#include "host/manifest/choose.h"
#include "host/manifest/names.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/plugin_loader.h"
#include "host/session/layers/plugin_layer.h"
#include "host/session/plugins/usable_plugin.h"

namespace ephost::session {

// Makes each layer once, wherever it is named.
struct SessionLayers::Maker {
  EnvironmentState& environment;
  const SessionConfig& config;
  const layers::MakeReference& make_reference;
  const std::shared_ptr<Profiler>& profiler;
  OperationFiles& files;
  std::map<std::string, std::shared_ptr<layers::Layer>> made = {};

  Result<std::vector<std::shared_ptr<layers::Layer>>> make(const Names& names) {
    std::vector<std::shared_ptr<layers::Layer>> layers;
    for (const std::string& name : names) {
      std::shared_ptr<layers::Layer>& layer = made[name];
      if (layer == nullptr) {
        EPHOST_ASSIGN_OR_RETURN(layer, make_one(name));
      }
      layers.push_back(layer);
    }
    return layers;
  }

 private:
  Result<std::shared_ptr<layers::Layer>> make_one(std::string_view name) {
    if (name == "validate") return make_validate();
    if (name == "trace") return make_trace();
    if (name == "regroup") return layers::make_regroup();
    return load(name);
  }

  [[nodiscard]] std::shared_ptr<layers::Layer> make_validate() const {
    if (!config.validate_results) return layers::make_validate(config.validate);
    return layers::make_validate(config.validate, make_reference);
  }

  [[nodiscard]] Result<std::shared_ptr<layers::Layer>> make_trace() const {
    EPHOST_ASSIGN_OR_RETURN(auto write,
                            layers::open_trace(config.trace_file, config.trace_until_crash));
    return layers::make_trace({.format = config.trace_format,
                               .graph_reads = config.trace_graph_reads,
                               .write = std::move(write),
                               .profiler = profiler});
  }

  Result<std::shared_ptr<layers::Layer>> load(std::string_view name) {
    const auto plugins = environment.plugins.all();
    EPHOST_ASSIGN_OR_RETURN(const manifest::Candidates candidates,
                            manifest::find_layer(*plugins, name));
    for (const manifest::FoundPlugin& plugin : candidates.plugins) {
      EPHOST_RETURN_IF_ERROR(add_plugin_files(plugin, files));
    }
    return with_usable_plugin(PluginLoader(environment, &config), candidates,
                              [](std::shared_ptr<const plugin::LoadedPlugin> plugin) {
                                return Result(make_plugin_layer(std::move(plugin)));
                              });
  }
};

Result<std::shared_ptr<const SessionLayers>> SessionLayers::create(
    EnvironmentState& environment, const SessionConfig& config,
    const layers::MakeReference& make_reference, const std::shared_ptr<Profiler>& profiler,
    OperationFiles& files) {
  Maker maker{environment, config, make_reference, profiler, files};
  auto layers = std::make_shared<SessionLayers>();
  Names common = config.layers.value_or(Names());
  if (!config.layers && config.provider_layers.empty()) {
    const char* const variable = environment_value("EPHOST_LAYERS");
    if (variable != nullptr) common = split_names(variable);
  }
  EPHOST_ASSIGN_OR_RETURN(layers->common_, maker.make(common));
  for (const auto& [provider, names] : config.provider_layers) {
    EPHOST_ASSIGN_OR_RETURN(layers->own_[provider], maker.make(names));
  }
  return std::shared_ptr<const SessionLayers>(std::move(layers));
}

Result<std::shared_ptr<const plugin::LoadedPlugin>> SessionLayers::over(
    std::shared_ptr<const plugin::LoadedPlugin> plugin) const {
  const manifest::Manifest& manifest = plugin->manifest;
  const auto own = std::ranges::find_if(own_, [&](const auto& entry) {
    return manifest::names_provider(entry.first, manifest.provider, manifest.name);
  });
  const auto& stack = own == own_.end() ? common_ : own->second;
  const bool is_in_worker = plugin->library == nullptr;
  if (is_in_worker &&
      std::ranges::any_of(stack, [](const auto& layer) { return layer->name() == "validate"; })) {
    warn_of_worker(manifest);
  }
  return layers::with_layers(std::move(plugin), stack);
}

void SessionLayers::warn_of_worker(const manifest::Manifest& manifest) const {
  const std::lock_guard lock(mutex_);
  if (!warned_.insert(manifest.provider).second) return;
  log_warning(
      formatted("the layer validate does not guard the memory of {}: the plugin runs in a "
                "worker, where its memory is its own; to check that too, let it run without "
                "isolation",
                manifest.provider));
}

}  // namespace ephost::session
