// A provider of a loaded plugin, created for one session or a group of sessions: the checked proxy
// through which the rest of the host calls it. Calls that the ABI demands to come one at a time
// wait for each other.
#pragma once

#include <ephost/ext/shared_contexts.h>
#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/bridge/call_limit.h"
#include "host/bridge/collect/claim_collector.h"
#include "host/bridge/collect/context_collector.h"
#include "host/bridge/collect/device_list.h"
#include "host/bridge/collect/event_collector.h"
#include "host/bridge/compatibility.h"
#include "host/bridge/computation.h"
#include "host/bridge/extensions/device.h"
#include "host/bridge/extensions/graph_wishes.h"
#include "host/bridge/extensions/host_services.h"
#include "host/bridge/extensions/run_extension.h"
#include "host/bridge/extensions/shape_extension.h"
#include "host/bridge/graph_view.h"
#include "host/bridge/kernel_index.h"
#include "host/manifest/options.h"
#include "host/partition/partition.h"
#include "host/plugin/loaded_plugin.h"

namespace ephost::bridge {

// A partition to compile, or to restore if `ep_context` is set. Everything is borrowed for the
// call, except that the payload must outlive the provider.
struct CompileRequest {
  const GraphView* graph = nullptr;
  std::string_view name;
  const eph_ep_context* ep_context = nullptr;
  uint64_t token = 0;  // of the claim; 0 with `ep_context`
  // Lives as long as the computation: what the constants of `ep_context` point to.
  std::shared_ptr<const void> kept = {};
};

// What a provider is created for: the content of an eph_provider_config.
struct ProviderConfig {
  std::vector<manifest::TypedOption> options;  // each of the manifest's, once
  std::vector<DeviceInfo> devices;             // in the user's order
  std::optional<DeviceInfo> target;            // to compile for, instead of `devices`
  uint32_t purpose = 0;                        // EPH_PURPOSE_*
};

class Provider : public std::enable_shared_from_this<Provider> {
 public:
  static Result<std::shared_ptr<Provider>> create(
      std::shared_ptr<const plugin::LoadedPlugin> plugin, ProviderConfig config,
      std::unique_ptr<HostServices> services);
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
  ~Provider();

  [[nodiscard]] const std::string& name() const { return plugin_->manifest.provider; }
  [[nodiscard]] const std::string& short_name() const { return plugin_->manifest.name; }
  [[nodiscard]] const plugin::LoadedPlugin& plugin() const { return *plugin_; }
  // What it was created with.
  [[nodiscard]] const ProviderConfig& config() const { return config_; }
  // The devices that it compiles for: the target, or else those that it uses.
  [[nodiscard]] std::span<const DeviceInfo> compiled_devices() const {
    return config_.target ? std::span(&*config_.target, 1) : std::span(config_.devices);
  }
  [[nodiscard]] const KernelIndex& kernels() const { return kernels_; }
  [[nodiscard]] bool can_compile() const { return api().compile != nullptr; }
  [[nodiscard]] bool can_write_context() const { return api().get_ep_context_nodes != nullptr; }

  // The provider's claims on the graph; those of its kernel list if it has no get_capability.
  [[nodiscard]] Result<Capability> capability(const GraphView& graph,
                                              std::span<const uint32_t> owner);

  // One computation for each request, or a failure and none.
  [[nodiscard]] Result<std::vector<Computation>> compile(std::span<const CompileRequest> requests);

  [[nodiscard]] Result<Computation> create_kernel(const GraphView& graph, graph::NodeId node);

  // Writes the context of computations that `compile` made from graphs.
  [[nodiscard]] Status write_context(std::span<const Computation* const> computations,
                                     ContextSink& sink);

  // The provider's compatibility text; empty if it has none.
  [[nodiscard]] Result<std::string> compatibility();
  // Judges the text of a payload for compiled_devices().
  [[nodiscard]] Result<Compatibility> validate(std::string_view text) const {
    return bridge::validate(*plugin_, *services_, compiled_devices(), text);
  }

  // Lets as many computations of the provider run at the same time as it can take; null: any
  // number.
  [[nodiscard]] CallLimit* call_limit() const { return call_limit_.get(); }

  // Whether one object can serve all sessions of a group (ephost.shared_contexts/1).
  [[nodiscard]] bool can_share_contexts() const { return shared_contexts_.has_value(); }
  // The names of the partitions in a payload, which must outlive the provider. Only if
  // can_share_contexts().
  [[nodiscard]] Result<std::vector<std::string>> list_partitions(
      std::span<const std::byte> payload);

  // The optional interfaces of its own that it has and the host knows, as "ephost.run/1".
  [[nodiscard]] const std::vector<std::string>& extensions() const { return extensions_; }

  // Whether it was created for compilation alone: then no device is open.
  [[nodiscard]] bool only_compiles() const {
    return config_.target || (config_.purpose & EPH_PURPOSE_COMPILE_ONLY) != 0;
  }
  // The memories of its devices, in their order: the provider's memory n is entry n-1. None if it
  // works in host memory.
  [[nodiscard]] std::span<const DeviceMemory> memories() const { return memories_; }

  // How many streams of computations it gains from on each device; at least 1.
  [[nodiscard]] uint32_t compute_streams() const { return compute_streams_; }
  [[nodiscard]] std::span<const std::shared_ptr<const Device>> devices() const { return devices_; }

  // The provider's side of ephost.run/1; may be called during runs.
  [[nodiscard]] const RunExtension& runs() const { return runs_; }
  // Changes options with the scope dynamic, checked by manifest::validate_option_changes, and
  // returns the values that these had before. NOT_IMPLEMENTED if the provider takes no changes;
  // after a failure, all options are as before.
  [[nodiscard]] Result<std::vector<manifest::TypedOption>> change_options(
      std::span<const manifest::TypedOption> changes);

  // Whether it can record what it does (ephost.profiling/1).
  [[nodiscard]] bool can_profile() const { return profiling_.has_value(); }
  // Begins to record. Only if can_profile(). FAIL if it records already, for another session.
  [[nodiscard]] Status start_profiling();
  // Ends that. Events that make no sense are left out.
  [[nodiscard]] ProviderEvents stop_profiling();

  // The operators that the provider wants to see as they are.
  [[nodiscard]] const GraphWishes& wishes() const { return wishes_; }

  // Whether its claims hold only for the shapes of the profiles that it was told.
  [[nodiscard]] bool takes_shape_profiles() const { return shapes_.takes_profiles(); }
  // To be called before `capability`. Does nothing for a provider that takes none.
  [[nodiscard]] Status set_shape_profiles(std::span<const ShapeProfile> profiles);
  // The nodes of a graph of `model` that it would take if extents were fixed; to be called after
  // `capability` of the same graph. The failure names the provider.
  [[nodiscard]] Result<std::vector<ShapeWish>> shape_wishes(const GraphView& graph,
                                                            const graph::Model& model);

  // Keeps a payload alive as long as the provider.
  void retain(graph::Blob payload);

  // Replaces the hooks for the calls that follow, as the provider of a group serves one session
  // after the other.
  void set_progress_hooks(ProgressHooks hooks) { services_->set_progress_hooks(std::move(hooks)); }

 private:
  Provider(std::shared_ptr<const plugin::LoadedPlugin> plugin, ProviderConfig config,
           std::unique_ptr<HostServices> services);
  Status open_devices();
  Status create_handle();
  [[nodiscard]] const eph_provider_api& api() const { return plugin_->provider; }
  Status adopt_info();
  Status load_kernels();
  // The table, or nothing if the provider does not offer the extension; noted in extensions_.
  template <class Table>
  [[nodiscard]] Result<std::optional<Table>> adopt_extension();
  Status adopt_extensions();

  // First, so that it is destroyed last: its library contains the code of everything else.
  std::shared_ptr<const plugin::LoadedPlugin> plugin_;
  std::mutex owner_;  // held during each call that the ABI marks [owner]
  std::unique_ptr<HostServices> services_;
  std::vector<graph::Blob> payloads_;
  ProviderConfig config_;
  std::vector<manifest::TypedOption> current_options_;  // those of the config after all changes
  std::vector<std::shared_ptr<const Device>> devices_;  // those of the config, opened; or none
  std::vector<DeviceMemory> memories_;
  eph_provider* handle_ = nullptr;
  std::unique_ptr<CallLimit> call_limit_;
  uint32_t compute_streams_ = 1;
  KernelIndex kernels_;
  std::vector<std::string> extensions_;
  std::optional<eph_shared_contexts_api> shared_contexts_;  // if the provider offers it
  GraphWishes wishes_;
  RunExtension runs_;
  ShapeExtension shapes_;
  std::optional<eph_profiling_api> profiling_;  // if the provider offers it
  bool is_profiling_ = false;
};

}  // namespace ephost::bridge
