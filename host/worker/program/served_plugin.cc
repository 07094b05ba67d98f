#include "host/worker/program/served_plugin.h"

#include <ephost/ext/device_memory.h>
#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/operators.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/run.h>
#include <ephost/ext/shapes.h>
#include <ephost/ext/shared_contexts.h>
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/layers/decorate/slots.h"
#include "host/plugin/adopt.h"
#include "host/plugin/calls/call.h"
#include "host/plugin/loading/load_lock.h"
#include "host/plugin/registry.h"
#include "host/worker/program/call_state.h"
#include "host/worker/program/collectors.h"
#include "host/worker/program/served_graph.h"
#include "host/worker/program/served_host.h"
#include "host/worker/program/served_run.h"
#include "host/worker/protocol/error_text.h"
#include "host/worker/protocol/records.h"

namespace ephost::worker {
namespace {

// More than any plugin has; one that states more is broken.
constexpr uint64_t kMaxEntries = uint64_t{1} << 20;

// Bit n: slot n of the table is there.
template <class Table>
uint32_t slots_of(const Table& table) {
  uint32_t slots = 0;
  uint32_t bit = 1;
  layers::for_each_slot<Table>([&]<auto Member>() {
    if (table.*Member != nullptr) slots |= bit;
    bit <<= 1;
  });
  return slots;
}

// Calls a slot of the plugin; what it returned and said goes into the answer. Whether it succeeded.
template <class R, class... P, class... A>
bool call_slot(const plugin::CallSite& site, wire::Answer& answer, R (*slot)(P...),
               A... arguments) {
  ErrorText error;
  const Result<int32_t> code =
      plugin::call(site, slot, arguments..., static_cast<eph_error*>(&error));
  answer.set_code(code.ok() ? *code : static_cast<int32_t>(code.status().code()));
  answer.set_has_message(error.is_set() || !code.ok());
  answer.set_message(code.ok() ? error.text() : code.status().message());
  return answer.code() == EPH_OK;
}

void fail(wire::Answer& answer, const Status& status) {
  answer.set_code(static_cast<int32_t>(status.code()));
  answer.set_has_message(true);
  answer.set_message(status.message());
}

struct ServedComputation;

struct ServedProvider {
  ServedProvider(std::string_view provider, const wire::Create& offer)
      : name(provider), host(std::string(provider), offer) {}

  const std::string_view name;
  ServedHost host;
  eph_provider* handle = nullptr;
  std::optional<eph_run_provider_api> runs;
  std::optional<eph_shapes_provider_api> shapes;
  std::optional<eph_device_memory_api> memory;
  std::optional<eph_shared_contexts_api> contexts;
  std::optional<eph_profiling_api> profiling;
  std::optional<eph_graph_wishes_api> wishes;
};

struct ServedComputation {
  eph_computation* handle = nullptr;
  eph_computation_api table = {};
  std::string_view provider;
  std::string kind;  // of its node or partition, and its name
  std::string name;
  std::shared_ptr<CallState> made_by;  // has the constants that it reads
};

ServedProvider& provider_of(const wire::Request& request) {
  return *reinterpret_cast<ServedProvider*>(request.provider());
}
ServedComputation& computation_of(uint64_t handle) {
  return *reinterpret_cast<ServedComputation*>(handle);
}

std::vector<eph_option> options_of(const google::protobuf::RepeatedPtrField<wire::Option>& given) {
  std::vector<eph_option> options;
  for (const wire::Option& option : given) options.push_back(read(option));
  return options;
}

}  // namespace

struct ServedPlugin::Impl {
  std::unique_ptr<plugin::Registry> registry;
  std::shared_ptr<const plugin::LoadedPlugin> plugin;
  std::vector<const eph_operator_def*> definitions;

  using Call = std::shared_ptr<CallState>;

  [[nodiscard]] std::string_view name() const { return plugin->manifest.provider; }
  [[nodiscard]] const eph_provider_api& api() const { return plugin->provider; }
  [[nodiscard]] plugin::CallSite site(std::string_view slot, std::string_view kind = {},
                                      std::string_view subject = {}) const {
    return {name(), slot, kind, subject};
  }

  void answer(const Call& call, wire::Answer& out);
  Status load(const wire::Load& load, wire::Loaded& out);
  void load_operators(wire::Loaded& out);
  void list_devices(bool targets, wire::Answer& out);
  void validate(const wire::Request& request, wire::Answer& out);
  void create(const wire::Request& request, wire::Answer& out);
  template <class Table>
  Status adopt(ServedProvider& provider, const char* id, std::optional<Table>& table,
               wire::Provider& out);
  Status adopt_extensions(ServedProvider& provider, wire::Provider& out);
  void get_capability(const Call& call, wire::Answer& out);
  void get_kernels(const wire::Request& request, wire::Answer& out);
  void create_kernel(const Call& call, wire::Answer& out);
  void compile(const Call& call, wire::Answer& out);
  Status add_computation(const Call& call, eph_computation* made, std::string_view slot,
                         std::string kind, std::string of, wire::Answer& out);
  Status read_context(CallState& call, const wire::Context& given, eph_ep_context& out);
  void write_context(const Call& call, wire::Answer& out);
  void answer_memory(const wire::Request& request, wire::Answer& out);
  void answer_runs(const wire::Request& request, wire::Answer& out);
  void answer_shapes(const Call& call, wire::Answer& out);
  void infer(const Call& call, wire::Answer& out);
  void compute(WorkerChannel& channel, RunMemory& memory, std::span<const std::byte> plain,
               CallState* call, wire::Answer& out);
};

Status ServedPlugin::Impl::load(const wire::Load& load, wire::Loaded& out) {
  plugin::HostOffer offer;
  offer.minor_min = load.minor_min();
  offer.minor_max = load.minor_max();
  offer.extensions.assign(load.extensions().begin(), load.extensions().end());
  EPHOST_ASSIGN_OR_RETURN(const manifest::FoundPlugin found,
                          manifest::read_plugin(load.manifest()));
  if (found.text != load.manifest_text()) {
    return Status(StatusCode::kEpFail,
                  formatted("{} was changed after it had been checked; try again",
                            quote(found.manifest.file.native())));
  }
  // The host has judged owner, signature and earlier failures.
  registry = std::make_unique<plugin::Registry>(
      std::move(offer), plugin::Quarantine({}, plugin::Quarantine::Policy{.failures = 0}));
  EPHOST_ASSIGN_OR_RETURN(plugin, registry->load(found));
  out.set_minor(plugin->abi_minor);
  out.set_abi_minor_min(plugin->preamble.abi_minor_min);
  out.set_abi_minor_max(plugin->preamble.abi_minor_max);
  out.set_id(copy(plugin->preamble.id));
  out.set_version(copy(plugin->preamble.version));
  out.set_build_flags(plugin->preamble.build_flags);
  out.set_flags(plugin->preamble.flags);
  out.set_type_name(copy(api().type_name));
  out.set_name(copy(api().name));
  out.set_vendor(copy(api().vendor));
  out.set_slots(slots_of(api()));
  load_operators(out);
  return {};
}

void ServedPlugin::Impl::load_operators(wire::Loaded& out) {
  if (plugin->api.get_extension == nullptr) return;
  const eph_string id = EPH_STRING(EPH_EXT_OPERATORS);
  const Result<const void*> given =
      plugin::call(site("get_extension"), plugin->api.get_extension, plugin->api_self, id);
  if (given.ok() && *given == nullptr) return;
  out.set_has_operators(true);
  const auto broken = [&](const Status& status) {
    out.set_operators_code(static_cast<int32_t>(status.code()));
    out.set_operators_message(status.message());
  };
  if (!given.ok()) return broken(given.status());
  const auto table = plugin::adopt<eph_operators_api>(*given, site("get_extension"));
  if (!table.ok()) return broken(table.status());
  const eph_operator_def* records = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  wire::Answer answer;
  if (!call_slot(site("get_operators"), answer, table->get_operators,
                 static_cast<const eph_operators_api*>(*given), &records, &stride, &count)) {
    out.set_operators_code(answer.code());
    out.set_operators_message(answer.message());
    return;
  }
  const auto adopted =
      plugin::adopt_records(records, stride, count, kMaxEntries, site("get_operators"));
  if (!adopted.ok()) return broken(adopted.status());
  for (const auto& definition : *adopted) {
    write(definition.copy, *out.add_operators());
    definitions.push_back(definition.given);
  }
}

void ServedPlugin::Impl::list_devices(bool targets, wire::Answer& out) {
  const auto lock = plugin::lock_loading();
  const ServedHost host(std::string(name()), {});
  DeviceCollector collector(name(), out);
  call_slot(site(targets ? "list_targets" : "get_devices"), out,
            targets ? api().list_targets : api().get_devices, plugin->provider_self,
            static_cast<const eph_host*>(&host), static_cast<eph_device_list*>(&collector));
}

void ServedPlugin::Impl::validate(const wire::Request& request, wire::Answer& out) {
  const ServedHost host(std::string(name()), {});
  Storage storage;
  const eph_device device = read(request.device(), storage);
  int32_t verdict = 0;
  call_slot(site("validate"), out, api().validate, plugin->provider_self,
            static_cast<const eph_host*>(&host), &device, text_of(request.text()), &verdict);
  out.set_verdict(verdict);
}

template <class Table>
Status ServedPlugin::Impl::adopt(ServedProvider& provider, const char* id,
                                 std::optional<Table>& table, wire::Provider& out) {
  const eph_string asked = {id, std::strlen(id)};
  EPHOST_ASSIGN_OR_RETURN(
      const void* const given,
      plugin::call(site("get_extension"), api().get_extension, provider.handle, asked));
  if (given == nullptr) return {};
  EPHOST_ASSIGN_OR_RETURN(table, plugin::adopt<Table>(given, site("get_extension")));
  wire::Extension& extension = *out.add_extensions();
  extension.set_id(id);
  extension.set_slots(slots_of(*table));
  return {};
}

Status ServedPlugin::Impl::adopt_extensions(ServedProvider& provider, wire::Provider& out) {
  if (api().get_extension == nullptr) return {};
  EPHOST_RETURN_IF_ERROR(adopt(provider, EPH_EXT_SHARED_CONTEXTS, provider.contexts, out));
  EPHOST_RETURN_IF_ERROR(adopt(provider, EPH_EXT_GRAPH_WISHES, provider.wishes, out));
  EPHOST_RETURN_IF_ERROR(adopt(provider, EPH_EXT_RUN, provider.runs, out));
  EPHOST_RETURN_IF_ERROR(adopt(provider, EPH_EXT_SHAPES, provider.shapes, out));
  EPHOST_RETURN_IF_ERROR(adopt(provider, EPH_EXT_PROFILING, provider.profiling, out));
  return adopt(provider, EPH_EXT_DEVICE_MEMORY, provider.memory, out);
}

void ServedPlugin::Impl::create(const wire::Request& request, wire::Answer& out) {
  const wire::Create& given = request.create();
  auto provider = std::make_unique<ServedProvider>(name(), given);
  Storage storage;
  const std::vector<eph_option> options = options_of(given.options());
  const auto read_device = [&](const wire::Device& device) { return read(device, storage); };
  eph_provider_config config = {};
  config.struct_size = sizeof(config);
  config.options = options.data();
  config.option_count = options.size();
  config.devices = read_all<eph_device>(given.devices(), storage, read_device);
  config.device_stride = sizeof(eph_device);
  config.device_count = static_cast<uint64_t>(given.devices_size());
  if (given.has_target()) config.target = storage.keep(read_device(given.target()));
  config.directory = text_of(given.directory());
  config.purpose = given.purpose();
  const bool is_made =
      call_slot(site("create"), out, api().create, plugin->provider_self,
                static_cast<const eph_host*>(&provider->host),
                static_cast<const eph_provider_config*>(&config), &provider->handle);
  if (provider->handle == nullptr) return;
  wire::Provider& made = *out.mutable_provider();
  if (is_made) {
    const Status adopted = adopt_extensions(*provider, made);
    if (!adopted.ok()) fail(out, adopted);
  }
  made.set_handle(reinterpret_cast<uint64_t>(provider.release()));
}

void ServedPlugin::Impl::get_capability(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  ServedGraph graph(*call, request.graph());
  ClaimCollector claims(name(), request.has_kernel(), out);
  call_slot(site("get_capability", "graph", request.graph().name()), out, api().get_capability,
            provider_of(request).handle, static_cast<const eph_graph*>(&graph),
            static_cast<eph_claims*>(&claims));
}

void ServedPlugin::Impl::get_kernels(const wire::Request& request, wire::Answer& out) {
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  if (!call_slot(site("get_kernels"), out, api().get_kernels, provider_of(request).handle, &kernels,
                 &count)) {
    return;
  }
  const auto list =
      plugin::adopt_array(kernels, count, kMaxEntries, site("get_kernels"), "out_kernels");
  if (!list.ok()) return fail(out, list.status());
  for (const eph_kernel_def& kernel : *list) {
    const Status rules = plugin::check_array(kernel.rules, kernel.rule_count, kMaxEntries,
                                             site("get_kernels"), "rules");
    if (!rules.ok()) return fail(out, rules);
    write(kernel, *out.add_kernels());
  }
}

// `describe` is called at once, so that it needs no call of its own.
Status ServedPlugin::Impl::add_computation(const Call& call, eph_computation* made,
                                           std::string_view slot, std::string kind, std::string of,
                                           wire::Answer& out) {
  wire::Computation& added = *out.add_computations();
  if (made == nullptr) return {};
  auto computation = std::make_unique<ServedComputation>();
  EPHOST_ASSIGN_OR_RETURN(computation->table, plugin::adopt_computation(made->api, site(slot)));
  computation->handle = made;
  computation->provider = name();
  computation->kind = std::move(kind);
  computation->name = std::move(of);
  computation->made_by = call;
  added.set_slots(slots_of(computation->table));
  if (computation->table.describe != nullptr) {
    const plugin::CallSite described = site("describe", computation->kind, computation->name);
    eph_computation_info info = {};
    info.struct_size = sizeof(info);
    wire::Answer answer;
    if (call_slot(described, answer, computation->table.describe, made, &info)) {
      const auto adopted = plugin::adopt<eph_computation_info>(&info, described);
      if (adopted.ok()) {
        Status arrays;
        const auto check = [&](const void* entries, uint64_t count, std::string_view array) {
          if (arrays.ok()) {
            arrays = plugin::check_array(entries, count, kMaxEntries, described, array);
          }
        };
        check(adopted->may_inplace, adopted->may_inplace_count, "may_inplace");
        check(adopted->aliases, adopted->alias_count, "aliases");
        check(adopted->input_parts, adopted->input_part_count, "input_parts");
        check(adopted->output_parts, adopted->output_part_count, "output_parts");
        if (arrays.ok()) write(*adopted, *added.mutable_info());
        if (!arrays.ok()) fail(answer, arrays);
      } else {
        fail(answer, adopted.status());
      }
    }
    added.set_described(answer.code());
    added.set_has_message(answer.has_message());
    added.set_message(answer.message());
  }
  added.set_handle(reinterpret_cast<uint64_t>(computation.release()));
  return {};
}

void ServedPlugin::Impl::create_kernel(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  ServedGraph graph(*call, request.graph());
  auto [kind, node] = graph.describe_node(request.node());
  eph_computation* made = nullptr;
  call_slot(site("create_kernel", kind, node), out, api().create_kernel,
            provider_of(request).handle, static_cast<const eph_graph*>(&graph), request.node(),
            &made);
  const Status added =
      add_computation(call, made, "create_kernel", std::move(kind), std::move(node), out);
  if (!added.ok()) fail(out, added);
}

Status ServedPlugin::Impl::read_context(CallState& call, const wire::Context& given,
                                        eph_ep_context& out) {
  out.struct_size = sizeof(out);
  out.payload.size = given.payload_size();
  out.payload.data = no_bytes();
  if (given.payload_size() != 0) {
    const wire::Shared& place = given.payload().shared();
    EPHOST_ASSIGN_OR_RETURN(const auto bytes,
                            mapped_regions().translate(place.region(), place.offset(),
                                                       static_cast<size_t>(given.payload_size())));
    out.payload.data = bytes.data();
  }
  out.partition_name = text_of(given.partition_name());
  out.source = text_of(given.source());
  out.sdk_version = text_of(given.sdk_version());
  out.hardware_architecture = text_of(given.hardware_architecture());
  out.notes = text_of(given.notes());
  out.max_size = given.max_size();
  out.main_context = given.main_context();
  auto* const constants =
      call.storage().array<eph_named_value>(static_cast<size_t>(given.constants_size()));
  for (int i = 0; i < given.constants_size(); ++i) {
    EPHOST_ASSIGN_OR_RETURN(const eph_value value, call.read(given.constants(i).value()));
    constants[i] = {text_of(given.constants(i).name()), call.storage().keep(value)};
  }
  out.constants = constants;
  out.constant_count = static_cast<uint64_t>(given.constants_size());
  return {};
}

void ServedPlugin::Impl::compile(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  const auto count = static_cast<size_t>(request.partitions_size());
  std::vector<std::unique_ptr<ServedGraph>> graphs;
  std::vector<eph_ep_context> contexts(count);
  std::vector<eph_partition> partitions(count);
  std::vector<eph_computation*> made(count, nullptr);
  for (size_t i = 0; i < count; ++i) {
    const wire::Partition& given = request.partitions(static_cast<int>(i));
    graphs.push_back(std::make_unique<ServedGraph>(*call, given.graph()));
    partitions[i] = {sizeof(eph_partition), graphs.back().get(), text_of(given.name()), nullptr,
                     given.token()};
    if (!given.has_context()) continue;
    const Status context = read_context(*call, given.context(), contexts[i]);
    if (!context.ok()) return fail(out, context);
    partitions[i].ep_context = &contexts[i];
  }
  const std::string what =
      count == 1 ? request.partitions(0).name() : formatted("{} partitions", count);
  call_slot(site("compile", count == 1 ? "partition" : "", what), out, api().compile,
            provider_of(request).handle, static_cast<const eph_partition*>(partitions.data()),
            sizeof(eph_partition), count, made.data());
  for (size_t i = 0; i < count; ++i) {
    const Status added = add_computation(call, made[i], "compile", "partition",
                                         request.partitions(static_cast<int>(i)).name(), out);
    if (!added.ok()) fail(out, added);
  }
}

void ServedPlugin::Impl::write_context(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  std::vector<eph_computation*> computations;
  for (const uint64_t handle : request.computations()) {
    computations.push_back(computation_of(handle).handle);
  }
  ServedWriter writer(name(), call->channel());
  call_slot(site("get_ep_context_nodes"), out, api().get_ep_context_nodes,
            provider_of(request).handle, computations.data(), computations.size(),
            static_cast<eph_context_writer*>(&writer));
}

void ServedPlugin::Impl::answer_memory(const wire::Request& request, wire::Answer& out) {
  ServedProvider& provider = provider_of(request);
  const eph_device_memory_api& memory = *provider.memory;
  switch (request.call()) {
    case wire::MEMORY_GET_MEMORIES: {
      const eph_memory* memories = nullptr;
      uint64_t count = 0;
      if (!call_slot(site("get_memories"), out, memory.get_memories, provider.handle, &memories,
                     &count)) {
        return;
      }
      const auto list =
          plugin::adopt_array(memories, count, kMaxEntries, site("get_memories"), "out_memories");
      if (!list.ok()) return fail(out, list.status());
      for (const eph_memory& given : *list) {
        wire::Memory& added = *out.add_memories();
        added.set_name(copy(given.name));
        added.set_alignment(given.alignment);
      }
      return;
    }
    case wire::MEMORY_DESCRIBE: {
      const ServedComputation& of = computation_of(request.computation());
      const plugin::CallSite described = site("describe", of.kind, of.name);
      eph_computation_memory info = {};
      info.struct_size = sizeof(info);
      info.memory = 1;
      if (!call_slot(described, out, memory.describe, provider.handle, of.handle, &info)) return;
      const auto adopted = plugin::adopt<eph_computation_memory>(&info, described);
      if (!adopted.ok()) return fail(out, adopted.status());
      Status arrays = plugin::check_array(adopted->inputs, adopted->input_count, kMaxEntries,
                                          described, "inputs");
      if (arrays.ok()) {
        arrays = plugin::check_array(adopted->outputs, adopted->output_count, kMaxEntries,
                                     described, "outputs");
      }
      if (!arrays.ok()) return fail(out, arrays);
      write(*adopted, *out.mutable_memory());
      return;
    }
    case wire::MEMORY_ALLOCATE: {
      void* data = nullptr;
      call_slot(site("allocate"), out, memory.allocate, provider.handle, request.memory(),
                request.size(), &data);
      out.set_handle(reinterpret_cast<uint64_t>(data));
      return;
    }
    case wire::MEMORY_RELEASE:
      plugin::call_release(site("release"), memory.release, provider.handle, request.memory(),
                           reinterpret_cast<void*>(request.address()));
      return;
    default: {
      void* to = reinterpret_cast<void*>(request.address());
      const void* from = reinterpret_cast<const void*>(request.from_address());
      if (request.has_data()) {
        const wire::Shared& place = request.data().shared();
        const auto bytes = mapped_regions().translate(place.region(), place.offset(),
                                                      static_cast<size_t>(request.size()));
        if (!bytes.ok()) return fail(out, bytes.status());
        if (request.memory() == 0) to = bytes->data();
        if (request.from_memory() == 0) from = bytes->data();
      }
      call_slot(site("copy"), out, memory.copy, provider.handle, request.memory(), to,
                request.from_memory(), from, request.size());
      return;
    }
  }
}

void ServedPlugin::Impl::answer_runs(const wire::Request& request, wire::Answer& out) {
  ServedProvider& provider = provider_of(request);
  const std::vector<eph_option> options = options_of(request.options());
  switch (request.call()) {
    case wire::RUN_BEGIN: {
      eph_run_config config = {};
      config.struct_size = sizeof(config);
      config.run_id = request.run_id();
      config.tag = text_of(request.text());
      config.deadline_ns = request.deadline_ns();
      config.options = options.data();
      config.option_count = options.size();
      call_slot(site("begin_run"), out, provider.runs->begin_run, provider.handle, &config);
      return;
    }
    case wire::RUN_END:
      call_slot(site("end_run"), out, provider.runs->end_run, provider.handle, request.run_id(),
                request.code());
      return;
    default:
      call_slot(site("set_options"), out, provider.runs->set_options, provider.handle,
                options.data(), options.size());
      return;
  }
}

void ServedPlugin::Impl::answer_shapes(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  ServedProvider& provider = provider_of(request);
  if (request.call() == wire::SHAPES_GET_WISHES) {
    ServedGraph graph(*call, request.graph());
    WishCollector collector(out);
    call_slot(site("get_wishes"), out, provider.shapes->get_wishes, provider.handle,
              static_cast<const eph_graph*>(&graph), static_cast<eph_shape_wishes*>(&collector));
    return;
  }
  const auto* const profiles = read_all<eph_shape_profile>(
      request.profiles(), call->storage(),
      [&](const wire::ShapeProfile& profile) { return read(profile, call->storage()); });
  call_slot(site("set_profiles"), out, provider.shapes->set_profiles, provider.handle, profiles,
            static_cast<uint64_t>(request.profiles_size()));
}

void ServedPlugin::Impl::infer(const Call& call, wire::Answer& out) {
  const eph_operator_def* const definition = definitions.at(call->request().node());
  ServedInference inference(*call, out);
  call_slot(site("infer", view(definition->op_type)), out, definition->infer, definition,
            static_cast<eph_inference*>(&inference));
}

void ServedPlugin::Impl::compute(WorkerChannel& channel, RunMemory& memory,
                                 std::span<const std::byte> plain, CallState* call,
                                 wire::Answer& out) {
  ServedRun run(channel, memory);
  const Status bound = run.bind(plain, call);
  if (!bound.ok()) return fail(out, bound);
  const ServedComputation& computation = computation_of(run.plain().computation);
  call_slot(site("compute", computation.kind, computation.name), out, computation.table.compute,
            computation.handle, reinterpret_cast<void*>(run.plain().state),
            static_cast<eph_run*>(&run));
  const Status finished = run.finish();
  if (!finished.ok() && out.code() == EPH_OK) fail(out, finished);
}

void ServedPlugin::Impl::answer(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  switch (request.call()) {
    case wire::LOAD: {
      const Status loaded = load(request.load(), *out.mutable_loaded());
      if (!loaded.ok()) fail(out, loaded);
      return;
    }
    case wire::PROVIDER_GET_DEVICES:
      return list_devices(false, out);
    case wire::PROVIDER_LIST_TARGETS:
      return list_devices(true, out);
    case wire::PROVIDER_VALIDATE:
      return validate(request, out);
    case wire::PROVIDER_CREATE:
      return create(request, out);
    case wire::PROVIDER_DESTROY: {
      const std::unique_ptr<ServedProvider> own(&provider_of(request));
      plugin::call_release(site("destroy"), api().destroy, own->handle);
      return;
    }
    case wire::PROVIDER_GET_CAPABILITY:
      return get_capability(call, out);
    case wire::PROVIDER_GET_KERNELS:
      return get_kernels(request, out);
    case wire::PROVIDER_CREATE_KERNEL:
      return create_kernel(call, out);
    case wire::PROVIDER_COMPILE:
      return compile(call, out);
    case wire::PROVIDER_GET_EP_CONTEXT_NODES:
      return write_context(call, out);
    case wire::PROVIDER_GET_COMPATIBILITY: {
      eph_string text = {};
      if (call_slot(site("get_compatibility"), out, api().get_compatibility,
                    provider_of(request).handle, &text)) {
        out.set_text(copy(text));
      }
      return;
    }
    case wire::PROVIDER_DESCRIBE: {
      eph_provider_info info = {};
      info.struct_size = sizeof(info);
      if (!call_slot(site("describe"), out, api().describe, provider_of(request).handle, &info)) {
        return;
      }
      const auto adopted = plugin::adopt<eph_provider_info>(&info, site("describe"));
      if (!adopted.ok()) return fail(out, adopted.status());
      out.set_max_concurrent(adopted->max_concurrent);
      return;
    }
    case wire::COMPUTATION_DESTROY: {
      const std::unique_ptr<ServedComputation> own(&computation_of(request.computation()));
      plugin::call_release(site("destroy", own->kind, own->name), own->table.destroy, own->handle);
      return;
    }
    case wire::COMPUTATION_CREATE_STATE: {
      const ServedComputation& of = computation_of(request.computation());
      void* state = nullptr;
      call_slot(site("create_state", of.kind, of.name), out, of.table.create_state, of.handle,
                &state);
      out.set_handle(reinterpret_cast<uint64_t>(state));
      return;
    }
    case wire::COMPUTATION_RELEASE_STATE: {
      const ServedComputation& of = computation_of(request.computation());
      plugin::call_release(site("release_state", of.kind, of.name), of.table.release_state,
                           of.handle, reinterpret_cast<void*>(request.state()));
      return;
    }
    case wire::CONTEXTS_LIST_PARTITIONS: {
      eph_bytes payload = {no_bytes(), request.size()};
      if (request.size() != 0) {
        const wire::Shared& place = request.data().shared();
        const auto bytes = mapped_regions().translate(place.region(), place.offset(),
                                                      static_cast<size_t>(request.size()));
        if (!bytes.ok()) return fail(out, bytes.status());
        payload.data = bytes->data();
      }
      NameCollector names(out);
      call_slot(site("list_partitions"), out, provider_of(request).contexts->list_partitions,
                provider_of(request).handle, payload, static_cast<eph_name_list*>(&names));
      return;
    }
    case wire::MEMORY_GET_MEMORIES:
    case wire::MEMORY_DESCRIBE:
    case wire::MEMORY_ALLOCATE:
    case wire::MEMORY_RELEASE:
    case wire::MEMORY_COPY:
      return answer_memory(request, out);
    case wire::RUN_BEGIN:
    case wire::RUN_END:
    case wire::RUN_SET_OPTIONS:
      return answer_runs(request, out);
    case wire::PROFILING_START:
      call_slot(site("start"), out, provider_of(request).profiling->start,
                provider_of(request).handle);
      return;
    case wire::PROFILING_STOP: {
      EventCollector events(name(), out);
      call_slot(site("stop"), out, provider_of(request).profiling->stop,
                provider_of(request).handle, static_cast<eph_event_list*>(&events));
      return;
    }
    case wire::WISHES_GET_KEPT_OPERATORS: {
      const eph_kept_operator* kept = nullptr;
      uint64_t count = 0;
      if (!call_slot(site("get_kept_operators"), out,
                     provider_of(request).wishes->get_kept_operators, provider_of(request).handle,
                     &kept, &count)) {
        return;
      }
      const auto list = plugin::adopt_array(kept, count, kMaxEntries, site("get_kept_operators"),
                                            "out_operators");
      if (!list.ok()) return fail(out, list.status());
      for (const eph_kept_operator& entry : *list) write(entry, *out.add_kept());
      return;
    }
    case wire::SHAPES_SET_PROFILES:
    case wire::SHAPES_GET_WISHES:
      return answer_shapes(call, out);
    case wire::OPERATOR_INFER:
      return infer(call, out);
    default:
      fail(out, Status(StatusCode::kNotImplemented,
                       formatted("the worker knows no call {}", static_cast<int>(request.call()))));
  }
}

ServedPlugin::ServedPlugin() : impl_(std::make_unique<Impl>()) {}
ServedPlugin::~ServedPlugin() = default;

void ServedPlugin::serve(WorkerChannel& channel) {
  RunMemory memory;
  for (;;) {
    worker::Request received = channel.receive();
    if (std::holds_alternative<Closed>(received)) return;
    wire::Answer answer;
    if (const auto* const hot = std::get_if<HotRequest>(&received)) {
      const std::span<std::byte> area = channel.hot_area();
      {
        const ActiveCall active(channel);
        impl_->compute(channel, memory, area.first(hot->size), nullptr, answer);
      }
      PlainAnswer plain;
      plain.code = answer.code();
      plain.has_message = answer.has_message() ? 1 : 0;
      plain.message_size = std::min(answer.message().size(), area.size() - sizeof(plain));
      std::memcpy(area.data(), &plain, sizeof(plain));
      std::memcpy(area.data() + sizeof(plain), answer.message().data(), plain.message_size);
      channel.answer_hot(static_cast<uint32_t>(sizeof(plain) + plain.message_size));
      continue;
    }
    auto& message = std::get<Message>(received);
    wire::Request request;
    Status accepted;
    if (!request.ParseFromString(message.bytes)) {
      accepted = Status(StatusCode::kFail, "the host's request cannot be read");
    } else {
      for (const uint64_t id : request.removed_regions()) mapped_regions().remove(id);
      accepted = map_regions(request.regions(), message);
    }
    if (!accepted.ok()) {
      fail(answer, accepted);
    } else {
      const auto call = std::make_shared<CallState>(channel, std::move(request));
      const ActiveCall active(channel);
      try {
        if (call->request().call() == wire::COMPUTATION_COMPUTE) {
          impl_->compute(channel, memory, std::as_bytes(std::span(call->request().plain_run())),
                         call.get(), answer);
        } else {
          impl_->answer(call, answer);
        }
      } catch (const std::exception& thrown) {
        fail(answer, Status(StatusCode::kFail, thrown.what()));
      }
    }
    take_late(answer);
    if (!channel.answer({answer.SerializeAsString(), {}}).ok()) {
      answer.Clear();
      fail(answer, Status(StatusCode::kFail, "the answer is too large"));
      (void)channel.answer({answer.SerializeAsString(), {}});
    }
  }
}

}  // namespace ephost::worker
