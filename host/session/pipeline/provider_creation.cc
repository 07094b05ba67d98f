#include "host/session/pipeline/provider_creation.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "host/base/log.h"
#include "host/bridge/operator_definitions.h"
#include "host/context/ep_context_node.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/session/environment_state.h"
#include "host/session/model_files.h"
#include "host/session/session_group.h"
#include "host/session/usable_plugin.h"

namespace ephost::session {
namespace {

// Such a model leaves nothing for a provider that takes the remaining nodes.
bool is_compiled_throughout(const graph::Graph& graph) {
  return !graph.nodes.empty() && std::ranges::all_of(graph.nodes, &context::is_ep_context);
}

Result<manifest::Selection> selection_of(const SessionOptions& options) {
  manifest::Selection selection;
  for (const ProviderRequest& request : options.providers()) {
    manifest::VersionRange range;
    if (!request.version_range.empty()) {
      EPHOST_ASSIGN_OR_RETURN(range, manifest::VersionRange::parse(request.version_range));
    }
    selection.providers.push_back({request.name, std::move(range), request.options});
  }
  return selection;
}

Result<std::vector<manifest::ChosenProvider>> choose(const manifest::SearchResult& search,
                                                     const SessionOptions& options,
                                                     const graph::Graph& graph) {
  EPHOST_ASSIGN_OR_RETURN(const manifest::Selection selection, selection_of(options));
  EPHOST_ASSIGN_OR_RETURN(std::vector<manifest::ChosenProvider> chosen,
                          manifest::choose_providers(search, selection));
  const bool has_cpu = std::ranges::any_of(chosen, [](const manifest::ChosenProvider& choice) {
    return choice.candidates.provider() == kCpuProvider;
  });
  if (!has_cpu && (chosen.empty() || !is_compiled_throughout(graph))) {
    EPHOST_ASSIGN_OR_RETURN(manifest::Candidates cpu,
                            manifest::find_candidates(search, {std::string(kCpuProvider), {}, {}}));
    chosen.push_back({std::move(cpu), {}});
  }
  return chosen;
}

}  // namespace

Status ProviderCreation::create_all(PreparedModel& prepared) const {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<manifest::ChosenProvider> chosen,
                          choose(environment_.state().search, options_, prepared.model.graph));
  const bool wants_operators = onnx_io::may_use_plugin_operators(prepared.model);
  auto operators = std::make_shared<onnx_io::PluginOperators>();
  for (const manifest::ChosenProvider& choice : chosen) {
    std::vector<onnx_io::OperatorDefinition> definitions;
    for (const manifest::FoundPlugin& plugin : choice.candidates.plugins) {
      EPHOST_RETURN_IF_ERROR(add_plugin_files(plugin, prepared.files));
    }
    const auto create_from = [&](std::shared_ptr<const plugin::LoadedPlugin> plugin)
        -> Result<std::shared_ptr<bridge::Provider>> {
      if (wants_operators) {
        EPHOST_ASSIGN_OR_RETURN(definitions, bridge::read_operators(plugin));
      }
      return create(std::move(plugin), choice.options, prepared);
    };
    EPHOST_ASSIGN_OR_RETURN(auto provider, with_usable_plugin(environment_.state().registry,
                                                              choice.candidates, create_from));
    prepared.providers.push_back(std::move(provider));
    for (const std::string& warning : operators->add(std::move(definitions))) log_warning(warning);
  }
  if (!operators->empty()) prepared.operators = std::move(operators);
  return Status::ok_status();
}

Result<std::shared_ptr<bridge::Provider>> ProviderCreation::create(
    std::shared_ptr<const plugin::LoadedPlugin> plugin, const manifest::KeyValues& given,
    const PreparedModel& prepared) const {
  const manifest::Manifest& manifest = plugin->manifest;
  EPHOST_ASSIGN_OR_RETURN(const std::vector<manifest::TypedOption> options,
                          manifest::validate_options(manifest, given));
  if (seat_ != nullptr) {
    EPHOST_ASSIGN_OR_RETURN(auto shared, seat_->find_provider(*plugin, options));
    if (shared != nullptr) {
      shared->set_progress_hooks(progress_hooks(prepared.cancellation));
      return shared;
    }
  }
  const ThreadUse& threads = prepared.threads;
  auto services = std::make_unique<bridge::HostServices>(
      manifest.provider, plugin_log(), progress_hooks(prepared.cancellation),
      bridge::ThreadOffer{threads.pool, threads.loops, threads.libraries});
  EPHOST_ASSIGN_OR_RETURN(
      auto provider, bridge::Provider::create(std::move(plugin), options, std::move(services)));
  if (seat_ != nullptr) seat_->add_provider(provider, options);
  return provider;
}

bridge::ProgressHooks ProviderCreation::progress_hooks(const Cancellation& cancellation) const {
  bridge::ProgressHooks hooks;
  if (const ProgressFunction& report = options_.progress_func()) {
    hooks.report = [report, is_running = is_running_](auto&&... what) {
      if (*is_running) report(what...);
    };
  }
  hooks.is_cancelled = [cancellation, is_running = is_running_] {
    return *is_running && cancellation.is_requested();
  };
  return hooks;
}

}  // namespace ephost::session
