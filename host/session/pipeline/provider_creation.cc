#include "host/session/pipeline/provider_creation.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/bridge/extensions/operator_definitions.h"
#include "host/context/ep_context_node.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/session/contexts/group_seat.h"
#include "host/session/environment/device_listing.h"
#include "host/session/environment/environment_state.h"
#include "host/session/layers/session_layers.h"
#include "host/session/model/model_files.h"
#include "host/session/plugins/device_choice.h"
#include "host/session/plugins/provider_requests.h"
#include "host/session/plugins/usable_plugin.h"

namespace ephost::session {
namespace {

// Such a model leaves nothing for a provider that takes the remaining nodes.
bool is_compiled_throughout(const graph::Graph& graph) {
  return !graph.nodes.empty() && std::ranges::all_of(graph.nodes, &context::is_ep_context);
}

// What was asked for, or what the policy chooses.
Result<std::vector<ProviderRequest>> requests_of(EnvironmentState& state,
                                                 const GivenOptions& options,
                                                 const SessionConfig& config) {
  const std::optional<EpDevicePolicy> policy = options.policy;
  if (!policy) return options.providers;
  if (!options.providers.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("the session has both the device policy {} and the provider {}; a "
                            "policy chooses the providers itself, so give only one of the two",
                            ep_device_policy_name(*policy), quote(options.providers.front().name)));
  }
  const EpDeviceList all = list_all_devices(state, Listing::kDevices, &config);
  for (const UnlistedProvider& failed : all.failed) {
    log_warning(formatted("{} passes over {}: {}", ep_device_policy_name(*policy), failed.provider,
                          failed.reason.message()));
  }
  return choose_by_policy(all.devices, *policy);
}

void remove_lost(std::vector<manifest::ChosenProvider>& chosen,
                 std::span<const LostProvider> lost) {
  std::erase_if(chosen, [&](const manifest::ChosenProvider& choice) {
    return std::ranges::find(lost, choice.candidates.provider(), &LostProvider::name) != lost.end();
  });
}

Result<std::vector<manifest::ChosenProvider>> choose(EnvironmentState& state,
                                                     const GivenOptions& options,
                                                     const graph::Graph& graph,
                                                     const SessionConfig& config,
                                                     std::span<const LostProvider> lost) {
  const std::shared_ptr<const manifest::SearchResult> plugins = state.plugins.all();
  EPHOST_RETURN_IF_ERROR(check_named_providers(*plugins, config));
  EPHOST_ASSIGN_OR_RETURN(const auto requests, requests_of(state, options, config));
  EPHOST_ASSIGN_OR_RETURN(std::vector<manifest::ChosenProvider> chosen,
                          choose_providers(*plugins, requests));
  remove_lost(chosen, lost);
  if (!has_cpu_provider(chosen) && (chosen.empty() || !is_compiled_throughout(graph))) {
    EPHOST_ASSIGN_OR_RETURN(manifest::ChosenProvider cpu, choose_cpu_provider(*plugins));
    chosen.push_back(std::move(cpu));
  }
  return chosen;
}

}  // namespace

void ProviderCreation::begin_loading(const PreparedModel& prepared) {
  auto chosen = choose_providers(*environment_.plugins.all(), options_.providers);
  if (!chosen.ok()) return;  // create_all says why
  remove_lost(*chosen, prepared.lost);
  for (const manifest::ChosenProvider& choice : *chosen) {
    begun_.push_back(std::make_unique<EarlyLoader>(environment_, &config_, prepared.workers.get(),
                                                   choice.candidates.plugins.front()));
  }
}

std::unique_ptr<EarlyLoader> ProviderCreation::loader_for(const manifest::FoundPlugin& plugin,
                                                          const PreparedModel& prepared) {
  const auto found = std::ranges::find(begun_, plugin.manifest.file,
                                       [](const auto& loader) { return loader->manifest(); });
  if (found != begun_.end()) {
    std::unique_ptr<EarlyLoader> begun = std::move(*found);
    begun_.erase(found);
    return begun;
  }
  return std::make_unique<EarlyLoader>(environment_, &config_, prepared.workers.get(), plugin);
}

Status ProviderCreation::create_all(PreparedModel& prepared) {
  EPHOST_ASSIGN_OR_RETURN(
      const std::vector<manifest::ChosenProvider> chosen,
      choose(environment_, options_, prepared.model.graph, config_, prepared.lost));
  const bool wants_operators = onnx_io::may_use_plugin_operators(prepared.model);
  auto operators = std::make_shared<onnx_io::PluginOperators>();
  for (const manifest::ChosenProvider& choice : chosen) {
    std::vector<onnx_io::OperatorDefinition> definitions;
    bool lacks_device = false;
    Status layering;  // why a layer could not be put over the plugin
    for (const manifest::FoundPlugin& plugin : choice.candidates.plugins) {
      EPHOST_RETURN_IF_ERROR(config_.on_crash.check(plugin.manifest));
      EPHOST_RETURN_IF_ERROR(add_plugin_files(plugin, prepared.files));
    }
    const auto create_from = [&](std::shared_ptr<const plugin::LoadedPlugin> plugin)
        -> Result<std::shared_ptr<bridge::Provider>> {
      auto layered = prepared.layers->over(std::move(plugin));
      if (!layered.ok()) {
        layering = layered.status();
        return Status(StatusCode::kInvalidArgument, layering.message());
      }
      plugin = std::move(layered).value();
      if (wants_operators) {
        EPHOST_ASSIGN_OR_RETURN(definitions, bridge::read_operators(plugin));
      }
      return create(std::move(plugin), choice, prepared, lacks_device);
    };
    const auto loader = loader_for(choice.candidates.plugins.front(), prepared);
    auto provider = with_usable_plugin(*loader, choice.candidates, create_from);
    loader->note_workers(provider.ok());
    // The search ends as at a wrong option, but the options are right.
    if (!layering.ok()) return layering;
    if (lacks_device) return Status(StatusCode::kEngineError, provider.status().message());
    if (!provider.ok()) return std::move(provider).status();
    prepared.providers.push_back(std::move(provider).value());
    for (const std::string& warning : operators->add(std::move(definitions))) log_warning(warning);
  }
  if (!operators->empty()) prepared.operators = std::move(operators);
  return check_target(prepared);
}

Status ProviderCreation::check_target(const PreparedModel& prepared) const {
  if (target_.empty()) return Status::ok_status();
  std::vector<std::string> known;
  for (const auto& provider : prepared.providers) {
    if (provider->config().target) return Status::ok_status();
    const bridge::HostServices services(provider->name(), plugin_log(), bridge::ProgressHooks{});
    EPHOST_ASSIGN_OR_RETURN(const auto targets, bridge::list_targets(provider->plugin(), services));
    for (const bridge::DeviceInfo& target : targets) {
      known.push_back(formatted("{} of {}", quote(target.id), provider->name()));
    }
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("none of the session's providers compiles for a target {}; there are: {}",
                          quote(target_), known.empty() ? "none" : join(known, ", ")));
}

Status ProviderCreation::choose_devices_of(const plugin::LoadedPlugin& plugin,
                                           const bridge::HostServices& services,
                                           const manifest::ChosenProvider& choice,
                                           bridge::ProviderConfig& config,
                                           bool& lacks_device) const {
  if (!target_.empty()) {
    EPHOST_ASSIGN_OR_RETURN(const auto targets, bridge::list_targets(plugin, services));
    const auto target = std::ranges::find(targets, target_, &bridge::DeviceInfo::id);
    if (target != targets.end()) {
      config.target = *target;
      return Status::ok_status();
    }
  }
  EPHOST_ASSIGN_OR_RETURN(auto listed, bridge::list_devices(plugin, services));
  auto chosen = choose_devices(plugin.manifest.provider, std::move(listed), choice.devices);
  lacks_device = !chosen.ok();
  EPHOST_ASSIGN_OR_RETURN(config.devices, std::move(chosen));
  return Status::ok_status();
}

Result<std::shared_ptr<bridge::Provider>> ProviderCreation::create(
    std::shared_ptr<const plugin::LoadedPlugin> plugin, const manifest::ChosenProvider& choice,
    const PreparedModel& prepared, bool& lacks_device) const {
  const manifest::Manifest& manifest = plugin->manifest;
  const ThreadUse& threads = prepared.threads;
  auto services = std::make_unique<bridge::HostServices>(
      manifest.provider, plugin_log(), progress_hooks(prepared.cancellation),
      bridge::ThreadOffer{threads.pool, threads.loops, threads.libraries});
  bridge::ProviderConfig config;
  config.purpose = purpose_of(manifest);
  EPHOST_ASSIGN_OR_RETURN(config.options,
                          manifest::validate_options(
                              manifest, with_session_options(choice.options, manifest, config_)));
  EPHOST_RETURN_IF_ERROR(choose_devices_of(*plugin, *services, choice, config, lacks_device));
  if (seat_ != nullptr) {
    EPHOST_ASSIGN_OR_RETURN(auto shared, seat_->find_provider(*plugin, config));
    if (shared != nullptr) {
      shared->set_progress_hooks(progress_hooks(prepared.cancellation));
      return shared;
    }
  }
  EPHOST_ASSIGN_OR_RETURN(
      auto provider,
      bridge::Provider::create(std::move(plugin), std::move(config), std::move(services)));
  if (seat_ != nullptr) seat_->add_provider(provider);
  return provider;
}

// Constants are folded with kernels of the CPU provider, even where nothing runs afterwards.
uint32_t ProviderCreation::purpose_of(const manifest::Manifest& manifest) const {
  const bool folds = manifest.provider == kCpuProvider;
  return folds ? purpose_ & ~uint32_t{EPH_PURPOSE_COMPILE_ONLY} : purpose_;
}

bridge::ProgressHooks ProviderCreation::progress_hooks(const Cancellation& cancellation) const {
  bridge::ProgressHooks hooks;
  if (const ProgressFunction& report = options_.progress) {
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
