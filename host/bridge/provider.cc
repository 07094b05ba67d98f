#include "host/bridge/provider.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/load_lock.h"

namespace ephost::bridge {
namespace {

// ---- get_capability ---------------------------------------------------------------------------

class ClaimCollector : public eph_claims {
 public:
  ClaimCollector(const graph::Graph& graph, const KernelIndex& kernels, Capability& out)
      : eph_claims{&kApi}, graph_(graph), kernels_(kernels), out_(out) {}

 private:
  static ClaimCollector& self(eph_claims* handle) { return *static_cast<ClaimCollector*>(handle); }

  static int32_t claim_node(eph_claims* handle, uint32_t node, eph_error* error) noexcept {
    return store(error, [&] { self(handle).out_.claims.push_back({{node}, false, {}, false}); });
  }
  static int32_t claim_fused(eph_claims* handle, const eph_fused_claim* given,
                             eph_error* error) noexcept {
    return store(error, [&] {
      const auto claim = copy_known(*given);
      const uint64_t count = claim.nodes == nullptr ? 0 : claim.node_count;
      const uint64_t limit = self(handle).graph_.nodes.size();
      // A longer claim repeats nodes: enough of it is kept for the partitioner to say so.
      const size_t kept = static_cast<size_t>(std::min(count, limit + 1));
      self(handle).out_.claims.push_back({{claim.nodes, claim.nodes + kept},
                                          true,
                                          std::string(view(claim.name)),
                                          (claim.flags & EPH_CLAIM_DROP_CONSTANTS) != 0});
    });
  }
  static int32_t has_kernel(eph_claims* handle, uint32_t node) noexcept {
    const ClaimCollector& collector = self(handle);
    if (node >= collector.graph_.nodes.size()) return 0;
    return collector.kernels_.fits(collector.graph_, collector.graph_.nodes[node]) ? 1 : 0;
  }
  static void decline(eph_claims* handle, uint32_t node, eph_string reason) noexcept {
    if (node >= self(handle).graph_.nodes.size()) return;
    try {
      self(handle).out_.declines.push_back({node, std::string(view(reason))});
    } catch (const std::exception&) {  // an explanation less
    }
  }
  template <class Body>
  static int32_t store(eph_error* error, Body body) noexcept {
    try {
      body();
      return EPH_OK;
    } catch (const std::exception& exception) {
      error->api->set_message(error, to_abi(exception.what()));
      return EPH_FAIL;
    }
  }

  static constexpr eph_claims_api kApi = {sizeof(eph_claims_api), &ClaimCollector::claim_node,
                                          &ClaimCollector::claim_fused, &ClaimCollector::has_kernel,
                                          &ClaimCollector::decline};
  const graph::Graph& graph_;
  const KernelIndex& kernels_;
  Capability& out_;
};

Capability capability_of_kernels(const graph::Graph& graph, const KernelIndex& kernels,
                                 std::span<const uint32_t> owner) {
  Capability capability;
  capability.claims.reserve(graph.nodes.size());
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (!owner.empty() && owner[id] != partition::kUnassigned) continue;
    if (kernels.fits(graph, graph.nodes[id])) {
      capability.claims.push_back({{id}, false, {}, false});
    } else {
      capability.declines.push_back({id, kernels.why_not(graph, graph.nodes[id])});
    }
  }
  return capability;
}

// ---- get_ep_context_nodes ---------------------------------------------------------------------

class SinkWriter : public eph_context_writer {
 public:
  SinkWriter(ContextSink& sink, size_t computations)
      : eph_context_writer{&kApi}, sink_(sink), has_node_(computations, false) {}

  // What the sink or a check said first; it counts more than what the plugin makes of it.
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] bool is_complete() const {
    return std::find(has_node_.begin(), has_node_.end(), false) == has_node_.end();
  }

 private:
  static SinkWriter& self(eph_context_writer* handle) { return *static_cast<SinkWriter*>(handle); }

  static int32_t begin_payload(eph_context_writer* handle, uint32_t* out_payload,
                               eph_error* error) noexcept {
    *out_payload = EPH_NONE;
    return forward(handle, error, [&](SinkWriter& writer) -> Status {
      EPHOST_ASSIGN_OR_RETURN(*out_payload, writer.sink_.begin_payload());
      ++writer.payloads_;
      return Status::ok_status();
    });
  }
  static int32_t write(eph_context_writer* handle, uint32_t payload, const void* data,
                       uint64_t size, eph_error* error) noexcept {
    return forward(handle, error, [&](SinkWriter& writer) -> Status {
      if (size == 0) return Status::ok_status();
      if (data == nullptr) {
        return Status(StatusCode::kEpFail, "the plugin writes context data from a null pointer");
      }
      return writer.sink_.append(payload,
                                 {static_cast<const std::byte*>(data), static_cast<size_t>(size)});
    });
  }
  static int32_t add_node(eph_context_writer* handle, const eph_context_node* given,
                          eph_error* error) noexcept {
    return forward(handle, error, [&](SinkWriter& writer) -> Status {
      const auto node = copy_known(*given);
      if (node.computation >= writer.has_node_.size() || writer.has_node_[node.computation]) {
        return Status(StatusCode::kEpFail, "the plugin writes a context node for computation " +
                                               std::to_string(node.computation) +
                                               ", which does not exist or has one already");
      }
      EPHOST_RETURN_IF_ERROR(writer.sink_.add_node(node));
      writer.has_node_[node.computation] = true;
      return Status::ok_status();
    });
  }
  template <class Body>
  static int32_t forward(eph_context_writer* handle, eph_error* error, Body body) noexcept {
    try {
      SinkWriter& writer = self(handle);
      if (writer.status_.ok()) writer.status_ = body(writer);
      if (writer.status_.ok()) return EPH_OK;
      error->api->set_message(error, to_abi(writer.status_.message()));
      return static_cast<int32_t>(writer.status_.code());
    } catch (const std::exception& exception) {
      error->api->set_message(error, to_abi(exception.what()));
      return EPH_FAIL;
    }
  }

  static constexpr eph_context_writer_api kApi = {sizeof(eph_context_writer_api),
                                                  &SinkWriter::begin_payload, &SinkWriter::write,
                                                  &SinkWriter::add_node};
  ContextSink& sink_;
  std::vector<bool> has_node_;
  uint32_t payloads_ = 0;
  Status status_;
};

// ---- Options and devices ----------------------------------------------------------------------

eph_option to_abi_option(const manifest::TypedOption& option) {
  eph_option converted = {};
  converted.name = to_abi(option.name);
  converted.string_value = to_abi(option.text);
  const auto set = [&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, int64_t>) {
      converted.kind = EPH_OPTION_INT;
      converted.int_value = value;
    } else if constexpr (std::is_same_v<T, double>) {
      converted.kind = EPH_OPTION_FLOAT;
      converted.float_value = value;
    } else if constexpr (std::is_same_v<T, bool>) {
      converted.kind = EPH_OPTION_BOOL;
      converted.int_value = value ? 1 : 0;
    }
  };
  std::visit(set, option.value);
  return converted;
}

std::string describe(std::span<const CompileRequest> requests) {
  return requests.size() == 1 ? "partition " + quote(requests.front().name)
                              : std::to_string(requests.size()) + " partitions";
}

class DeviceCollector : public eph_device_list {
 public:
  explicit DeviceCollector(std::vector<DeviceInfo>& out) : eph_device_list{&kApi}, out_(out) {}

 private:
  static int32_t add(eph_device_list* handle, const eph_device* given, eph_error* error) noexcept {
    try {
      const auto device = copy_known(*given);
      static_cast<DeviceCollector*>(handle)->out_.push_back(
          {device.type, device.index, std::string(view(device.name)),
           std::string(view(device.vendor)), std::string(view(device.architecture)),
           std::string(view(device.driver_version)), device.memory_bytes});
      return EPH_OK;
    } catch (const std::exception& exception) {
      error->api->set_message(error, to_abi(exception.what()));
      return EPH_FAIL;
    }
  }
  static constexpr eph_device_list_api kApi = {sizeof(eph_device_list_api), &DeviceCollector::add};
  std::vector<DeviceInfo>& out_;
};

// ---- Shared contexts --------------------------------------------------------------------------

class NameCollector : public eph_name_list {
 public:
  explicit NameCollector(std::vector<std::string>& out) : eph_name_list{&kApi}, out_(out) {}

 private:
  static int32_t add(eph_name_list* handle, eph_string name, eph_error* error) noexcept {
    try {
      static_cast<NameCollector*>(handle)->out_.emplace_back(view(name));
      return EPH_OK;
    } catch (const std::exception& exception) {
      error->api->set_message(error, to_abi(exception.what()));
      return EPH_FAIL;
    }
  }
  static constexpr eph_name_list_api kApi = {sizeof(eph_name_list_api), &NameCollector::add};
  std::vector<std::string>& out_;
};

}  // namespace

Result<std::vector<DeviceInfo>> list_devices(const plugin::LoadedPlugin& plugin,
                                             const HostServices& services) {
  std::vector<DeviceInfo> devices;
  DeviceCollector collector(devices);
  const auto lock = plugin::lock_loading();
  EPHOST_RETURN_IF_ERROR(call_slot({plugin.manifest.provider, "get_devices"}, "listing its devices",
                                   plugin.provider.get_devices, &services, &collector));
  return devices;
}

Provider::Provider(std::shared_ptr<const plugin::LoadedPlugin> plugin,
                   std::span<const manifest::TypedOption> options,
                   std::unique_ptr<HostServices> services)
    : plugin_(std::move(plugin)),
      services_(std::move(services)),
      options_(options.begin(), options.end()) {}

Result<std::shared_ptr<Provider>> Provider::create(
    std::shared_ptr<const plugin::LoadedPlugin> plugin,
    std::span<const manifest::TypedOption> options, std::unique_ptr<HostServices> services) {
  std::shared_ptr<Provider> provider(new Provider(std::move(plugin), options, std::move(services)));
  std::vector<eph_option> converted;
  for (const manifest::TypedOption& option : options) converted.push_back(to_abi_option(option));
  eph_provider_config config = {};
  config.struct_size = sizeof(config);
  config.options = converted.data();
  config.option_count = converted.size();
  {
    const auto lock = plugin::lock_loading();
    EPHOST_RETURN_IF_ERROR(call_slot({provider->name(), "create"}, "creating the provider",
                                     provider->api().create, provider->services_.get(), &config,
                                     &provider->handle_));
  }
  if (provider->handle_ == nullptr) {
    return Status(StatusCode::kEpFail, provider->name() +
                                           " reported success and gave no provider; report this to "
                                           "the plugin's vendor");
  }
  EPHOST_RETURN_IF_ERROR(provider->load_kernels());
  EPHOST_RETURN_IF_ERROR(provider->adopt_shared_contexts());
  EPHOST_RETURN_IF_ERROR(provider->adopt_device_memory());
  return provider;
}

Provider::~Provider() {
  const auto lock = plugin::lock_loading();
  if (handle_ != nullptr) plugin::call_release({name(), "destroy"}, api().destroy, handle_);
}

Status Provider::load_kernels() {
  if (api().get_kernels == nullptr) return Status::ok_status();
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "get_kernels"}, "listing its kernels",
                                   api().get_kernels, handle_, &kernels, &count));
  if (kernels == nullptr) count = 0;
  kernels_ = KernelIndex({kernels, static_cast<size_t>(count)});
  return Status::ok_status();
}

Result<const void*> Provider::find_extension(eph_string id) const {
  if (api().get_extension == nullptr) return nullptr;
  return plugin::call({name(), "get_extension"}, api().get_extension, handle_, id);
}

Status Provider::adopt_shared_contexts() {
  EPHOST_ASSIGN_OR_RETURN(const void* const table,
                          find_extension(EPH_STRING(EPH_EXT_SHARED_CONTEXTS)));
  if (table == nullptr) return Status::ok_status();
  shared_contexts_ = copy_known(*static_cast<const eph_shared_contexts_api*>(table));
  if (shared_contexts_.list_partitions != nullptr) return Status::ok_status();
  return Status(StatusCode::kEpFail, name() + " offers " + EPH_EXT_SHARED_CONTEXTS +
                                         " without its required function list_partitions; report "
                                         "this to the plugin's vendor");
}

Status Provider::adopt_device_memory() {
  EPHOST_ASSIGN_OR_RETURN(const void* const table,
                          find_extension(EPH_STRING(EPH_EXT_DEVICE_MEMORY)));
  if (table == nullptr) return Status::ok_status();
  EPHOST_ASSIGN_OR_RETURN(
      device_memory_,
      DeviceMemory::adopt(*static_cast<const eph_device_memory_api*>(table), handle_, name()));
  return Status::ok_status();
}

Result<Capability> Provider::capability(const GraphView& graph, std::span<const uint32_t> owner) {
  if (api().get_capability == nullptr) {
    return capability_of_kernels(graph.graph(), kernels_, owner);
  }
  Capability capability;
  ClaimCollector claims(graph.graph(), kernels_, capability);
  const std::string& graph_name = graph.graph().name;
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "get_capability", "graph", graph_name},
                                   "telling its capability for graph " + quote(graph_name),
                                   api().get_capability, handle_, &graph, &claims));
  return capability;
}

Result<std::vector<Computation>> Provider::compile(std::span<const CompileRequest> requests) {
  if (!can_compile()) {
    return Status(StatusCode::kNotImplemented, name() +
                                                   " claims a fused partition and cannot "
                                                   "compile; report this to its vendor");
  }
  std::vector<eph_partition> partitions;
  for (const CompileRequest& request : requests) {
    partitions.push_back(
        {sizeof(eph_partition), request.graph, to_abi(request.name), request.ep_context});
  }
  std::vector<eph_computation*> handles(requests.size(), nullptr);
  const std::string what = describe(requests);
  const Status compiled =
      call_slot({name(), "compile", what}, "compiling " + what, api().compile, handle_,
                partitions.data(), sizeof(eph_partition), partitions.size(), handles.data());
  // Adopting each handle also destroys those that a failure has left behind.
  std::vector<Computation> computations;
  Status adopted;
  for (eph_computation* handle : handles) {
    if (handle == nullptr && !compiled.ok()) continue;
    Result<Computation> computation = Computation::adopt(shared_from_this(), handle);
    if (!computation.ok()) {
      adopted = std::move(computation).status();
    } else {
      computations.push_back(std::move(computation).value());
    }
  }
  EPHOST_RETURN_IF_ERROR(compiled);
  EPHOST_RETURN_IF_ERROR(adopted);
  return computations;
}

Result<Computation> Provider::create_kernel(const GraphView& graph, graph::NodeId node) {
  if (api().create_kernel == nullptr) {
    return Status(StatusCode::kNotImplemented, name() + " has no kernels");
  }
  eph_computation* handle = nullptr;
  const std::string described = graph::describe_node(graph.graph(), node);
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "create_kernel", described},
                                   "creating a kernel for " + described, api().create_kernel,
                                   handle_, &graph, node, &handle));
  return Computation::adopt(shared_from_this(), handle);
}

Status Provider::write_context(std::span<const Computation* const> computations,
                               ContextSink& sink) {
  if (!can_write_context()) {
    return Status(StatusCode::kNotImplemented, name() + " cannot write an EP context");
  }
  std::vector<eph_computation*> handles;
  for (const Computation* computation : computations) handles.push_back(computation->handle());
  SinkWriter writer(sink, handles.size());
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

Result<std::vector<DeviceInfo>> Provider::devices() const {
  return list_devices(*plugin_, *services_);
}

Result<std::string> Provider::compatibility() {
  if (api().get_compatibility == nullptr) return std::string();
  eph_string text = {};
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "get_compatibility"}, "stating its compatibility",
                                   api().get_compatibility, handle_, &text));
  return std::string(view(text));
}

Result<Compatibility> Provider::validate_compatibility(std::string_view text) {
  if (api().validate_compatibility == nullptr) return Compatibility::kOptimal;
  int32_t level = EPH_COMPATIBILITY_UNSUPPORTED;
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "validate_compatibility"},
                                   "judging the compatibility of a context",
                                   api().validate_compatibility, handle_, to_abi(text), &level));
  if (level == EPH_COMPATIBILITY_OPTIMAL) return Compatibility::kOptimal;
  return level == EPH_COMPATIBILITY_PREFER_RECOMPILATION ? Compatibility::kPreferRecompilation
                                                         : Compatibility::kUnsupported;
}

// Kept in the order of their addresses: a model may have a payload for each of its partitions.
void Provider::retain(graph::Blob payload) {
  const auto address = [](const graph::Blob& blob) { return blob.bytes.data(); };
  const auto place =
      std::ranges::lower_bound(payloads_, address(payload), std::ranges::less(), address);
  if (place != payloads_.end() && address(*place) == address(payload)) return;
  payloads_.insert(place, std::move(payload));
}

Result<std::vector<std::string>> Provider::list_partitions(std::span<const std::byte> payload) {
  std::vector<std::string> names;
  NameCollector list(names);
  const eph_bytes bytes = {payload.data(), payload.size()};
  EPHOST_RETURN_IF_ERROR(call_slot({name(), "list_partitions"},
                                   "listing the partitions of a shared context",
                                   shared_contexts_.list_partitions, handle_, bytes, &list));
  return names;
}

}  // namespace ephost::bridge
