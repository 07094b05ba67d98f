#include "tests/unit/bridge/crossing_plugin.h"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "host/plugin/adopt.h"
#include "tests/unit/bridge/crossings.h"

namespace ephost::bridge::testing {

Handed handed;

// ---- The slots of a computation -----------------------------------------------------------------

void destroy_computation(eph_computation*) noexcept {}
int32_t compute(eph_computation*, void*, eph_run*, eph_error*) noexcept { return EPH_OK; }
int32_t describe(eph_computation*, eph_computation_info* out, eph_error*) noexcept {
  if (handed.computation_info != nullptr) std::memcpy(out, handed.computation_info, sizeof(*out));
  return EPH_OK;
}
const eph_computation_api kComputation = {
    sizeof(eph_computation_api), &destroy_computation, &compute, &describe, nullptr, nullptr};
eph_computation the_computation;

// ---- The extensions -----------------------------------------------------------------------------

int32_t open_device(const eph_device_api*, const eph_host*, const eph_device*,
                    eph_device_handle** out, eph_error*) noexcept {
  *out = reinterpret_cast<eph_device_handle*>(&handed);
  return EPH_OK;
}
void close_device(eph_device_handle*) noexcept {}
int32_t get_memories(eph_device_handle*, const eph_memory_info** out, uint64_t* stride,
                     uint64_t* count, eph_error*) noexcept {
  *out = static_cast<const eph_memory_info*>(handed.memory);
  *stride = plugin::kMaxRecordSize;
  *count = 1;
  return EPH_OK;
}
int32_t allocate(eph_device_handle*, uint32_t, uint64_t, void**, eph_error*) noexcept {
  return EPH_FAIL;
}
void release(eph_device_handle*, uint32_t, void*) noexcept {}
int32_t get_usage(eph_device_handle*, uint32_t, eph_memory_usage* out, eph_error*) noexcept {
  if (handed.usage != nullptr) std::memcpy(out, handed.usage, sizeof(*out));
  return EPH_OK;
}
int32_t copy(eph_device_handle*, const eph_copy*, uint64_t, uint64_t, eph_error*) noexcept {
  return EPH_FAIL;
}
const eph_device_api kDevices = {sizeof(eph_device_api),
                                 &open_device,
                                 &close_device,
                                 nullptr,
                                 &get_memories,
                                 &allocate,
                                 &release,
                                 nullptr,
                                 &get_usage,
                                 &copy};
int32_t get_kept_operators(eph_provider*, const eph_kept_operator** out, uint64_t* stride,
                           uint64_t* count, eph_error*) noexcept {
  *out = static_cast<const eph_kept_operator*>(handed.kept_operator);
  *stride = plugin::kMaxRecordSize;
  *count = 1;
  return EPH_OK;
}
const eph_graph_wishes_api kGraphWishes = {sizeof(eph_graph_wishes_api), &get_kept_operators};

int32_t start_profiling(eph_provider*, eph_error*) noexcept { return EPH_OK; }
int32_t stop_profiling(eph_provider*, eph_event_list* list, eph_error* error) noexcept {
  return list->api->add(list, static_cast<const eph_event*>(handed.event), error);
}
const eph_profiling_api kProfiling = {sizeof(eph_profiling_api), &start_profiling, &stop_profiling};
// One definition, wherever the next one would be.
int32_t get_operators(const eph_operators_api*, const eph_operator_def** out, uint64_t* stride,
                      uint64_t* count, eph_error*) noexcept {
  *out = static_cast<const eph_operator_def*>(handed.operator_def);
  *stride = plugin::kMaxRecordSize;
  *count = 1;
  return EPH_OK;
}
const eph_operators_api kOperators = {sizeof(eph_operators_api), &get_operators};

// ---- The slots of the provider ------------------------------------------------------------------

int32_t get_devices(const eph_provider_api*, const eph_host*, eph_device_list* list,
                    eph_error* error) noexcept {
  return list->api->add(list, static_cast<const eph_device*>(handed.device), error);
}
int32_t create(const eph_provider_api*, const eph_host*, const eph_provider_config*,
               eph_provider** out, eph_error*) noexcept {
  *out = reinterpret_cast<eph_provider*>(&handed);
  return EPH_OK;
}
void destroy(eph_provider*) noexcept {}
int32_t get_capability(eph_provider*, const eph_graph*, eph_claims* claims,
                       eph_error* error) noexcept {
  return claims->api->claim_fused(claims, static_cast<const eph_fused_claim*>(handed.claim), error);
}
int32_t get_kernels(eph_provider*, const eph_kernel_def** out, uint64_t* count,
                    eph_error*) noexcept {
  *out = handed.kernels.data();
  *count = handed.kernels.size();
  return EPH_OK;
}
int32_t create_kernel(eph_provider*, const eph_graph*, uint32_t, eph_computation** out,
                      eph_error*) noexcept {
  the_computation.api = static_cast<const eph_computation_api*>(handed.computation_api);
  *out = &the_computation;
  return EPH_OK;
}
int32_t get_ep_context_nodes(eph_provider*, eph_computation* const*, uint64_t,
                             eph_context_writer* writer, eph_error* error) noexcept {
  const auto* const node = static_cast<const eph_context_node*>(handed.context_node);
  return writer->api->add_node(writer, node, error);
}
int32_t describe_provider(eph_provider*, eph_provider_info* out, eph_error*) noexcept {
  if (handed.provider_info != nullptr) std::memcpy(out, handed.provider_info, sizeof(*out));
  return EPH_OK;
}
const void* get_provider_extension(eph_provider*, eph_string id) noexcept {
  return std::string_view(id.data, id.size) == handed.extension.id ? handed.extension.table
                                                                   : nullptr;
}
const void* get_extension(const eph_provider_api*, eph_string id) noexcept {
  return std::string_view(id.data, id.size) == EPH_EXT_DEVICE ? handed.devices : nullptr;
}
const void* get_plugin_extension(const eph_plugin_api*, eph_string id) noexcept {
  return std::string_view(id.data, id.size) == EPH_EXT_LAYER ? handed.layer : handed.operators;
}
const eph_plugin_api* get_api(const eph_load_info*) noexcept {
  return static_cast<const eph_plugin_api*>(handed.plugin_api);
}

eph_provider_api provider_table() {
  eph_provider_api table = {};
  table.struct_size = sizeof(table);
  table.type_name = EPH_STRING("CrossingExecutionProvider");
  table.name = EPH_STRING("crossing");
  table.vendor = EPH_STRING("tests");
  table.get_devices = &get_devices;
  table.create = &create;
  table.destroy = &destroy;
  table.get_capability = &get_capability;
  table.get_kernels = &get_kernels;
  table.create_kernel = &create_kernel;
  table.get_ep_context_nodes = &get_ep_context_nodes;
  table.describe = &describe_provider;
  table.get_provider_extension = &get_provider_extension;
  table.get_extension = &get_extension;
  return table;
}

manifest::Manifest manifest_of_the_plugin() {
  manifest::Manifest manifest;
  manifest.provider = kProvider;
  manifest.name = "crossing";
  manifest.vendor = "tests";
  manifest.version = {1, 0, 0, {}, {}};
  manifest.abi = {1, 0, 0};
  manifest.context_sources = {"tests"};
  return manifest;
}

std::shared_ptr<const plugin::LoadedPlugin> loaded_plugin() {
  auto loaded = std::make_shared<plugin::LoadedPlugin>();
  loaded->manifest = manifest_of_the_plugin();
  loaded->provider = provider_table();
  return loaded;
}

Result<std::shared_ptr<Provider>> create_provider() {
  auto services =
      std::make_unique<HostServices>(std::string(kProvider), PluginLog(), ProgressHooks());
  ProviderConfig config;
  if (handed.devices != nullptr) config.devices = {DeviceInfo{.id = "npu"}};
  return Provider::create(loaded_plugin(), std::move(config), std::move(services));
}

}  // namespace ephost::bridge::testing
