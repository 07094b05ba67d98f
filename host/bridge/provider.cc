#include "host/bridge/provider.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_devices.h"
#include "host/bridge/abi_options.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/collect/name_collector.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

// More than any provider has; one that reports more is broken.
constexpr uint64_t kMaxKernels = uint64_t{1} << 20;
constexpr uint32_t kMaxComputeStreams = 16;
constexpr uint64_t kMaxRules = uint64_t{1} << 16;

std::string describe(std::span<const CompileRequest> requests) {
  return requests.size() == 1 ? formatted("partition {}", quote(requests.front().name))
                              : formatted("{} partitions", requests.size());
}

}  // namespace

Provider::Provider(std::shared_ptr<const plugin::LoadedPlugin> plugin, ProviderConfig config,
                   std::unique_ptr<HostServices> services)
    : plugin_(std::move(plugin)),
      services_(std::move(services)),
      config_(std::move(config)),
      current_options_(config_.options) {}

Result<std::shared_ptr<Provider>> Provider::create(
    std::shared_ptr<const plugin::LoadedPlugin> plugin, ProviderConfig config,
    std::unique_ptr<HostServices> services) {
  std::shared_ptr<Provider> provider(
      new Provider(std::move(plugin), std::move(config), std::move(services)));
  EPHOST_RETURN_IF_ERROR(provider->open_devices());
  EPHOST_RETURN_IF_ERROR(provider->create_handle());
  EPHOST_RETURN_IF_ERROR(provider->adopt_info());
  EPHOST_RETURN_IF_ERROR(provider->load_kernels());
  EPHOST_RETURN_IF_ERROR(provider->adopt_extensions());
  return provider;
}

Status Provider::open_devices() {
  EPHOST_ASSIGN_OR_RETURN(const bool has_devices, Device::is_offered(*plugin_));
  if (!has_devices) return {};
  extensions_.emplace_back(EPH_EXT_DEVICE);
  if (only_compiles()) return {};
  for (const DeviceInfo& info : config_.devices) {
    EPHOST_ASSIGN_OR_RETURN(auto device, Device::open(plugin_, *services_, info));
    for (uint32_t i = 1; i <= device->memories().size(); ++i) memories_.push_back({device, i});
    devices_.push_back(std::move(device));
  }
  return {};
}

Status Provider::create_handle() {
  const std::vector<eph_option> options = to_abi(config_.options);
  const AbiDevices devices(config_.devices);
  const AbiDevices target(config_.target ? compiled_devices() : std::span<const DeviceInfo>());
  const std::string directory = plugin_->manifest.directory();
  eph_provider_config config = {};
  config.struct_size = sizeof(config);
  config.options = options.data();
  config.option_count = options.size();
  config.devices = devices.data();
  config.device_stride = AbiDevices::kStride;
  config.device_count = devices.size();
  config.target = target.data();
  config.directory = to_abi(directory);
  config.purpose = config_.purpose;
  std::vector<eph_device_handle*> opened;
  for (const std::shared_ptr<const Device>& device : devices_) opened.push_back(device->handle());
  if (!opened.empty()) config.opened = opened.data();
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "create"}, "creating the provider", api().create,
                                   plugin_->provider_self, services_.get(), &config, &handle_));
  if (handle_ != nullptr) return Status::ok_status();
  return Status(StatusCode::kEpFail, name() +
                                         " reported success and gave no provider; report this to "
                                         "the plugin's vendor");
}

Provider::~Provider() {
  if (handle_ != nullptr) plugin::call_release({name(), "destroy"}, api().destroy, handle_);
}

Status Provider::adopt_info() {
  eph_provider_info info = {};
  info.struct_size = sizeof(info);
  if (api().describe != nullptr) {
    const plugin::CallSite site{name(), "describe"};
    EPHOST_RETURN_IF_ERROR(
        call_slot(site, "describing the provider", api().describe, handle_, &info));
    EPHOST_ASSIGN_OR_RETURN(info, plugin::adopt<eph_provider_info>(&info, site));
  }
  if (info.max_concurrent != UINT32_MAX) {
    call_limit_ = std::make_unique<CallLimit>(info.max_concurrent);
  }
  compute_streams_ = std::clamp(info.compute_streams, uint32_t{1}, kMaxComputeStreams);
  return Status::ok_status();
}

Status Provider::load_kernels() {
  if (api().get_kernels == nullptr) return Status::ok_status();
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "get_kernels"}, "listing its kernels",
                                   api().get_kernels, handle_, &kernels, &count));
  const plugin::CallSite site{name(), "get_kernels"};
  EPHOST_ASSIGN_OR_RETURN(const auto list,
                          plugin::adopt_array(kernels, count, kMaxKernels, site, "out_kernels"));
  for (const eph_kernel_def& kernel : list) {
    EPHOST_RETURN_IF_ERROR(
        plugin::check_array(kernel.rules, kernel.rule_count, kMaxRules, site, "rules"));
  }
  kernels_ = KernelIndex(list);
  return Status::ok_status();
}

template <class Table>
Result<std::optional<Table>> Provider::adopt_extension() {
  if (api().get_provider_extension == nullptr) return std::optional<Table>();
  constexpr std::string_view kId = plugin::TableSlots<Table>::kId;
  const plugin::CallSite site{name(), "get_provider_extension"};
  EPHOST_ASSIGN_OR_RETURN(const void* const table,
                          plugin::call(site, api().get_provider_extension, handle_, to_abi(kId)));
  if (table == nullptr) return std::optional<Table>();
  EPHOST_ASSIGN_OR_RETURN(const Table adopted, plugin::adopt<Table>(table, site));
  extensions_.emplace_back(kId);
  return std::optional<Table>(adopted);
}

Status Provider::adopt_extensions() {
  EPHOST_ASSIGN_OR_RETURN(shared_contexts_, adopt_extension<eph_shared_contexts_api>());
  EPHOST_ASSIGN_OR_RETURN(const auto wishes, adopt_extension<eph_graph_wishes_api>());
  if (wishes) {
    EPHOST_ASSIGN_OR_RETURN(wishes_, GraphWishes::create(*wishes, handle_, name()));
  }
  EPHOST_ASSIGN_OR_RETURN(const auto runs, adopt_extension<eph_run_provider_api>());
  if (runs) runs_ = RunExtension(*runs, handle_, name());
  EPHOST_ASSIGN_OR_RETURN(const auto shapes, adopt_extension<eph_shapes_provider_api>());
  if (shapes) shapes_ = ShapeExtension(*shapes, handle_, name());
  EPHOST_ASSIGN_OR_RETURN(profiling_, adopt_extension<eph_profiling_api>());
  return Status::ok_status();
}

Result<Capability> Provider::capability(const GraphView& graph, std::span<const uint32_t> owner) {
  const std::lock_guard lock(owner_);
  if (api().get_capability == nullptr) {
    return capability_of_kernels(graph.graph(), kernels_, owner);
  }
  ClaimCollector claims(name(), graph.graph(), kernels_);
  const std::string& graph_name = graph.graph().name;
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "get_capability", "graph", graph_name},
                                   "telling its capability for graph " + quote(graph_name),
                                   api().get_capability, handle_, &graph, &claims));
  Capability capability = claims.take();
  explain_missing_kernels(graph.graph(), kernels_, owner, capability);
  return capability;
}

Status Provider::set_shape_profiles(std::span<const ShapeProfile> profiles) {
  const std::lock_guard lock(owner_);
  return shapes_.set_profiles(profiles);
}

Result<std::vector<ShapeWish>> Provider::shape_wishes(const GraphView& graph,
                                                      const graph::Model& model) {
  const std::lock_guard lock(owner_);
  return shapes_.wishes(graph, model);
}

Result<std::vector<Computation>> Provider::compile(std::span<const CompileRequest> requests) {
  const std::lock_guard lock(owner_);
  if (!can_compile()) {
    return Status(StatusCode::kNotImplemented, name() +
                                                   " claims a fused partition and cannot "
                                                   "compile; report this to its vendor");
  }
  std::vector<eph_partition> partitions;
  for (const CompileRequest& request : requests) {
    partitions.push_back({sizeof(eph_partition), request.graph, to_abi(request.name),
                          request.ep_context, request.token});
  }
  std::vector<eph_computation*> handles(requests.size(), nullptr);
  const std::string what = describe(requests);
  const Status compiled =
      call_slot({name(), "compile", what}, "compiling " + what, api().compile, handle_,
                partitions.data(), sizeof(eph_partition), partitions.size(), handles.data());
  // Adopting a handle and dropping it also destroys what a failed call left behind.
  std::vector<Computation> computations;
  Status adopted;
  for (size_t i = 0; i < handles.size(); ++i) {
    if (handles[i] == nullptr && !compiled.ok()) continue;
    Result<Computation> computation = Computation::adopt(shared_from_this(), handles[i], "compile");
    if (!computation.ok()) {
      adopted = std::move(computation).status();
    } else {
      computation->keep(requests[i].kept);
      computations.push_back(std::move(computation).value());
    }
  }
  EPHOST_RETURN_IF_ERROR(compiled);
  EPHOST_RETURN_IF_ERROR(adopted);
  return computations;
}

Result<Computation> Provider::create_kernel(const GraphView& graph, graph::NodeId node) {
  const std::lock_guard lock(owner_);
  if (api().create_kernel == nullptr) {
    return Status(StatusCode::kNotImplemented, name() + " has no kernels");
  }
  eph_computation* handle = nullptr;
  const std::string described = graph::describe_node(graph.graph(), node);
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "create_kernel", described},
                                   "creating a kernel for " + described, api().create_kernel,
                                   handle_, &graph, node, &handle));
  return Computation::adopt(shared_from_this(), handle, "create_kernel");
}

Status Provider::write_context(std::span<const Computation* const> computations,
                               ContextSink& sink) {
  const std::lock_guard lock(owner_);
  if (!can_write_context()) {
    return Status(StatusCode::kNotImplemented, name() + " cannot write an EP context");
  }
  std::vector<eph_computation*> handles;
  for (const Computation* computation : computations) handles.push_back(computation->handle());
  ContextCollector writer(name(), sink, handles.size());
  const Status written =
      call_slot({name(), "get_ep_context_nodes"}, "writing its EP context",
                api().get_ep_context_nodes, handle_, handles.data(), handles.size(), &writer);
  EPHOST_RETURN_IF_ERROR(writer.status());
  EPHOST_RETURN_IF_ERROR(written);
  if (!writer.is_complete()) {
    return Status(StatusCode::kEpFail, name() +
                                           " wrote no context node for some of its partitions; "
                                           "report this to the plugin's vendor");
  }
  return Status::ok_status();
}

Result<std::string> Provider::compatibility() {
  const std::lock_guard lock(owner_);
  if (api().get_compatibility == nullptr) return std::string();
  eph_string text = {};
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "get_compatibility"}, "reporting its compatibility",
                                   api().get_compatibility, handle_, &text));
  EPHOST_ASSIGN_OR_RETURN(const std::string_view checked,
                          plugin::adopt_text(text, kMaxCompatibilitySize,
                                             {name(), "get_compatibility"}, "compatibility"));
  return std::string(checked);
}

Result<std::vector<manifest::TypedOption>> Provider::change_options(
    std::span<const manifest::TypedOption> changes) {
  const std::lock_guard lock(owner_);
  if (!runs_.takes_changes()) {
    return Status(StatusCode::kNotImplemented,
                  formatted("{} has options with the scope dynamic, and its library cannot change "
                            "them; report this to the plugin's vendor",
                            name()));
  }
  std::vector<manifest::TypedOption> previous;
  std::vector<manifest::TypedOption> next = current_options_;
  for (const manifest::TypedOption& change : changes) {
    const auto option = std::ranges::find(next, change.name, &manifest::TypedOption::name);
    assert(option != next.end());
    previous.push_back(std::exchange(*option, change));
  }
  EPHOST_RETURN_IF_ERROR(runs_.set_options(changes));
  current_options_ = std::move(next);
  return previous;
}

Status Provider::start_profiling() {
  const std::lock_guard lock(owner_);
  if (is_profiling_) {
    return Status(StatusCode::kFail, "another session is recording a profile with this provider");
  }
  EPHOST_RETURN_IF_ERROR(
      call_slot({name(), "start"}, "starting to record a profile", profiling_->start, handle_));
  is_profiling_ = true;
  return Status::ok_status();
}

ProviderEvents Provider::stop_profiling() {
  const std::lock_guard lock(owner_);
  EventCollector collector(name());
  is_profiling_ = false;
  const Status stopped = call_slot({name(), "stop"}, "handing over what it recorded",
                                   profiling_->stop, handle_, &collector);
  ProviderEvents events = collector.take();
  if (events.problem.ok()) events.problem = stopped;
  return events;
}

// Sorted by address, because a model may have a payload for each of its partitions.
void Provider::retain(graph::Blob payload) {
  const auto address = [](const graph::Blob& blob) { return blob.bytes.data(); };
  const auto place =
      std::ranges::lower_bound(payloads_, address(payload), std::ranges::less(), address);
  if (place != payloads_.end() && address(*place) == address(payload)) return;
  payloads_.insert(place, std::move(payload));
}

Result<std::vector<std::string>> Provider::list_partitions(std::span<const std::byte> payload) {
  const std::lock_guard lock(owner_);
  NameCollector names;
  const eph_bytes bytes = {payload.data(), payload.size()};
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "list_partitions"},
                                   "listing the partitions of a shared context",
                                   shared_contexts_->list_partitions, handle_, bytes, &names));
  return names.take();
}

}  // namespace ephost::bridge
