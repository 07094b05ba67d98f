#include "tests/unit/bridge/crossings.h"

#include <memory>
#include <utility>

#include "host/bridge/extensions/operator_definitions.h"
#include "host/plugin/adopt.h"
#include "tests/unit/bridge/crossing_plugin.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge::testing {
namespace {

// A span that may have a size without the entries.
template <class Entry>
std::span<const Entry> entries_at(const Entry* entries, uint64_t count) {
  return std::span<const Entry>(entries, static_cast<size_t>(count));
}

int32_t decorate(const eph_layer_api*, const eph_provider_api* inner, const eph_layer_config*,
                 const eph_provider_api** out_table, eph_error*) noexcept {
  *out_table = inner;
  return EPH_OK;
}
void release(const eph_layer_api*, const eph_provider_api*) noexcept {}

const graph::Model& model() {
  static const graph::Model model = [] {
    graph::Model made;
    graph::testing::GraphBuilder builder;
    made.graph = builder.input("x").node("Relu", {"x"}, {"y"}).output("y").build();
    return made;
  }();
  return model;
}

// Calls `use` with a provider and a graph, after the provider was created without a failure.
template <class Use>
Status with_provider(Use use) {
  EPHOST_ASSIGN_OR_RETURN(const auto provider, create_provider());
  const GraphView graph(model().graph, model());
  return use(*provider, graph);
}

Status with_computation() {
  return with_provider([](Provider& provider, const GraphView& graph) {
    return provider.create_kernel(graph, 0).status();
  });
}

Status read_operators_of_the_plugin() {
  auto loaded = std::make_shared<plugin::LoadedPlugin>();
  loaded->manifest = manifest_of_the_plugin();
  loaded->api.get_extension = &get_plugin_extension;
  return read_operators(loaded).status();
}

Status negotiate_with_the_plugin(const eph_plugin_preamble* preamble) {
  return plugin::negotiate(preamble, manifest_of_the_plugin(), {}).status();
}

Status code_status(int32_t code) {
  return code == EPH_OK ? Status() : Status(static_cast<StatusCode>(code), "refused");
}

}  // namespace

eph_plugin_preamble Crossing<eph_plugin_preamble>::sound() {
  static const eph_provider_api kTable = provider_table();
  static const eph_provider_api* const kTables[] = {&kTable};
  static const eph_plugin_api kApi = {sizeof(eph_plugin_api), kTables, 1, nullptr};
  handed = {.plugin_api = &kApi};
  return {sizeof(eph_plugin_preamble),
          0,
          0,
          EPH_STRING("org.ephost.crossing"),
          EPH_STRING("1.0.0"),
          EPH_BUILD_FLAGS,
          EPH_PLUGIN_STAYS_LOADED,
          &get_api};
}
Status Crossing<eph_plugin_preamble>::hand_over(const void* given) {
  return negotiate_with_the_plugin(static_cast<const eph_plugin_preamble*>(given));
}

eph_plugin_api Crossing<eph_plugin_api>::sound() {
  static const eph_provider_api kTable = provider_table();
  static const eph_provider_api* const kTables[] = {&kTable};
  return {sizeof(eph_plugin_api), kTables, 1, nullptr};
}
Status Crossing<eph_plugin_api>::hand_over(const void* given) {
  const eph_plugin_preamble preamble = Crossing<eph_plugin_preamble>::sound();
  handed = {.plugin_api = given};
  return negotiate_with_the_plugin(&preamble);
}

eph_provider_api Crossing<eph_provider_api>::sound() { return provider_table(); }
Status Crossing<eph_provider_api>::hand_over(const void* given) {
  const auto* const table = static_cast<const eph_provider_api*>(given);
  const eph_plugin_api api = {sizeof(api), &table, 1, nullptr};
  return Crossing<eph_plugin_api>::hand_over(&api);
}

eph_computation_api Crossing<eph_computation_api>::sound() { return kComputation; }
Status Crossing<eph_computation_api>::hand_over(const void* given) {
  handed = {.computation_api = given};
  return with_computation();
}

eph_layer_api Crossing<eph_layer_api>::sound() {
  return {sizeof(eph_layer_api), EPH_STRING("CrossingExecutionProvider"), EPH_STRING("tests"),
          &decorate, &release};
}
Status Crossing<eph_layer_api>::hand_over(const void* given) {
  const eph_plugin_api api = {sizeof(api), nullptr, 0, &get_plugin_extension};
  const eph_plugin_preamble preamble = Crossing<eph_plugin_preamble>::sound();
  handed = {.plugin_api = &api, .layer = given};
  manifest::Manifest manifest = manifest_of_the_plugin();
  manifest.kind = manifest::Kind::kLayer;
  manifest.provider.clear();
  manifest.name = kProvider;
  return plugin::negotiate(&preamble, manifest, {}).status();
}

// The message that the host gives to the plugin's error arrives, or the error is unusable.
eph_error_api Crossing<eph_error_api>::sound() {
  return {sizeof(eph_error_api),
          [](eph_error* error, eph_string) noexcept { error->api = nullptr; }};
}
Status Crossing<eph_error_api>::hand_over(const void* given) {
  const GraphView graph(model().graph, model());
  eph_error error = {static_cast<const eph_error_api*>(given)};
  const int32_t code = graph.api->get_onnx(&graph, 0, nullptr, &error);
  const bool has_arrived = given != nullptr && error.api == nullptr;
  return code != EPH_OK && has_arrived ? Status() : Status(StatusCode::kFail, "no message");
}

eph_device Crossing<eph_device>::sound() { return {sizeof(eph_device), EPH_STRING("npu")}; }
Status Crossing<eph_device>::hand_over(const void* given) {
  handed = {.device = given};
  return list_devices(*loaded_plugin(), HostServices(std::string(kProvider), {}, {})).status();
}

eph_fused_claim Crossing<eph_fused_claim>::sound() { return {sizeof(eph_fused_claim)}; }
Status Crossing<eph_fused_claim>::hand_over(const void* given) {
  handed = {.claim = given};
  return with_provider([](Provider& provider, const GraphView& graph) {
    return provider.capability(graph, {}).status();
  });
}

eph_context_node Crossing<eph_context_node>::sound() { return {sizeof(eph_context_node)}; }
Status Crossing<eph_context_node>::hand_over(const void* given) {
  struct Sink : ContextSink {
    Result<uint32_t> begin_payload(std::string_view) override { return uint32_t{0}; }
    Status append(uint32_t, std::span<const std::byte>) override { return {}; }
    Status add_node(const eph_context_node&) override { return {}; }
  };
  handed = {.computation_api = &kComputation, .context_node = given};
  return with_provider([](Provider& provider, const GraphView& graph) -> Status {
    EPHOST_ASSIGN_OR_RETURN(const Computation computation, provider.create_kernel(graph, 0));
    const Computation* const computations[] = {&computation};
    Sink sink;
    return provider.write_context(computations, sink);
  });
}

eph_event Crossing<eph_event>::sound() { return {sizeof(eph_event)}; }
Status Crossing<eph_event>::hand_over(const void* given) {
  handed = {.event = given, .extension = {EPH_EXT_PROFILING, &kProfiling}};
  EPHOST_ASSIGN_OR_RETURN(const auto provider, create_provider());
  EPHOST_RETURN_IF_ERROR(provider->start_profiling());
  return provider->stop_profiling().problem;
}

eph_provider_info Crossing<eph_provider_info>::sound() { return {sizeof(eph_provider_info)}; }
Status Crossing<eph_provider_info>::hand_over(const void* given) {
  handed = {.provider_info = given};
  return create_provider().status();
}

eph_computation_info Crossing<eph_computation_info>::sound() {
  return {sizeof(eph_computation_info)};
}
Status Crossing<eph_computation_info>::hand_over(const void* given) {
  handed = {.computation_api = &kComputation, .computation_info = given};
  return with_computation();
}

eph_graph_info Crossing<eph_graph_info>::sound() { return {sizeof(eph_graph_info)}; }
Status Crossing<eph_graph_info>::hand_over(const void* given) {
  const GraphView graph(model().graph, model());
  auto* const out = static_cast<eph_graph_info*>(const_cast<void*>(given));
  return code_status(graph.api->get_graph(&graph, out, nullptr));
}

eph_node_info Crossing<eph_node_info>::sound() { return {sizeof(eph_node_info)}; }
Status Crossing<eph_node_info>::hand_over(const void* given) {
  const GraphView graph(model().graph, model());
  auto* const out = static_cast<eph_node_info*>(const_cast<void*>(given));
  return code_status(graph.api->get_node(&graph, 0, out, nullptr));
}

eph_value_info Crossing<eph_value_info>::sound() { return {sizeof(eph_value_info)}; }
Status Crossing<eph_value_info>::hand_over(const void* given) {
  const GraphView graph(model().graph, model());
  auto* const out = static_cast<eph_value_info*>(const_cast<void*>(given));
  return code_status(graph.api->get_value(&graph, 0, out, nullptr));
}

Status Crossing<eph_key_value>::hand_over(const eph_key_value* entries, uint64_t count) {
  eph_device device = Crossing<eph_device>::sound();
  device.metadata = entries;
  device.metadata_count = count;
  return Crossing<eph_device>::hand_over(&device);
}

Status Crossing<eph_kernel_def>::hand_over(const eph_kernel_def* entries, uint64_t count) {
  handed = {.kernels = entries_at(entries, count)};
  return create_provider().status();
}

Status Crossing<eph_type_rule>::hand_over(const eph_type_rule* entries, uint64_t count) {
  const eph_kernel_def kernel = {EPH_STRING("Relu"), {}, 1, 99, entries, count};
  return Crossing<eph_kernel_def>::hand_over(&kernel, 1);
}

eph_device_api Crossing<eph_device_api>::sound() { return kDevices; }
Status Crossing<eph_device_api>::hand_over(const void* given) {
  static const eph_memory_info kMemory = Crossing<eph_memory_info>::sound();
  handed = {.devices = given, .memory = &kMemory};
  return create_provider().status();
}

eph_memory_info Crossing<eph_memory_info>::sound() {
  return {sizeof(eph_memory_info), EPH_STRING("npu"), 64, 0, 0};
}
Status Crossing<eph_memory_info>::hand_over(const void* given) {
  handed = {.devices = &kDevices, .memory = given};
  return create_provider().status();
}

eph_memory_usage Crossing<eph_memory_usage>::sound() { return {sizeof(eph_memory_usage)}; }
Status Crossing<eph_memory_usage>::hand_over(const void* given) {
  static const eph_memory_info kMemory = Crossing<eph_memory_info>::sound();
  handed = {.devices = &kDevices, .memory = &kMemory, .usage = given};
  const auto provider = create_provider();
  return provider.ok() ? (*provider)->devices().front()->usage(1).status() : provider.status();
}

eph_kept_operator Crossing<eph_kept_operator>::sound() {
  return {sizeof(eph_kept_operator), EPH_STRING("Cast"), EPH_STRING(""), 1, 1};
}
Status Crossing<eph_kept_operator>::hand_over(const void* given) {
  handed = {.extension = {EPH_EXT_GRAPH_WISHES, &kGraphWishes}, .kept_operator = given};
  return create_provider().status();
}

eph_operators_api Crossing<eph_operators_api>::sound() { return kOperators; }
Status Crossing<eph_operators_api>::hand_over(const void* given) {
  static const eph_operator_def kDefinition = Crossing<eph_operator_def>::sound();
  handed = {.operators = given, .operator_def = &kDefinition};
  return read_operators_of_the_plugin();
}

eph_operator_def Crossing<eph_operator_def>::sound() {
  eph_operator_def definition = {};
  definition.struct_size = sizeof(definition);
  definition.op_type = EPH_STRING("Op");
  definition.domain = EPH_STRING("com.crossing");
  definition.since_version = 1;
  return definition;
}
Status Crossing<eph_operator_def>::hand_over(const void* given) {
  handed = {.operators = &kOperators, .operator_def = given};
  return read_operators_of_the_plugin();
}

Status Crossing<eph_parameter>::hand_over(const eph_parameter* entries, uint64_t count) {
  eph_operator_def definition = Crossing<eph_operator_def>::sound();
  definition.inputs = entries;
  definition.input_count = count;
  return Crossing<eph_operator_def>::hand_over(&definition);
}

Status Crossing<eph_attribute_def>::hand_over(const eph_attribute_def* entries, uint64_t count) {
  eph_operator_def definition = Crossing<eph_operator_def>::sound();
  definition.attributes = entries;
  definition.attribute_count = count;
  return Crossing<eph_operator_def>::hand_over(&definition);
}

Status Crossing<eph_slot_memory>::hand_over(const eph_slot_memory* entries, uint64_t count) {
  eph_computation_info info = Crossing<eph_computation_info>::sound();
  info.output_memories = entries;
  info.output_memory_count = count;
  return Crossing<eph_computation_info>::hand_over(&info);
}

Status Crossing<eph_slot_pair>::hand_over(const eph_slot_pair* entries, uint64_t count) {
  eph_computation_info info = Crossing<eph_computation_info>::sound();
  info.aliases = entries;
  info.alias_count = count;
  return Crossing<eph_computation_info>::hand_over(&info);
}

Status Crossing<eph_slot_part>::hand_over(const eph_slot_part* entries, uint64_t count) {
  eph_computation_info info = Crossing<eph_computation_info>::sound();
  info.input_parts = entries;
  info.input_part_count = count;
  return Crossing<eph_computation_info>::hand_over(&info);
}

}  // namespace ephost::bridge::testing
