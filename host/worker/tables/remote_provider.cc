// The functions of providers and computations in workers.
#include <cstring>
#include <span>

#include "host/base/format.h"
#include "host/plugin/adopt.h"
#include "host/worker/tables/remote_tables.h"

namespace ephost::worker {
namespace {

using layers::for_each_slot;
using layers::TableSlots;

class RemoteProvider;

struct RemoteComputation : eph_computation {
  RemoteComputation(RemoteProvider& of, const wire::Computation& made);

  static RemoteComputation& self(eph_computation* handle) {
    return static_cast<RemoteComputation&>(*handle);
  }

  RemoteProvider& provider;
  eph_computation_api table = {};
  RunFacts facts;
  wire::Computation answer;  // of the call that made it; what `describe` gives points into it
  wire::ComputationMemory memory;
  Storage storage;
};

class RemoteProvider {
 public:
  RemoteProvider(std::shared_ptr<Worker> worker, const eph_host* host)
      : worker_(std::move(worker)), host_(host) {}

  static RemoteProvider& self(eph_provider* handle) {
    return *reinterpret_cast<RemoteProvider*>(handle);
  }
  [[nodiscard]] eph_provider* handle() { return reinterpret_cast<eph_provider*>(this); }
  [[nodiscard]] Worker& worker() const { return *worker_; }
  [[nodiscard]] const HostTables& host() const { return host_; }

  // Makes a call that is about this provider.
  Result<wire::Answer> call(wire::Request& request, Outgoing& outgoing,
                            HostGraphs* graphs = nullptr, eph_context_writer* writer = nullptr) {
    request.set_provider(handle_);
    return worker_->call(request, outgoing, {&host_, graphs, writer});
  }
  // One that states nothing else.
  Result<wire::Answer> call(wire::Call which) {
    wire::Request request;
    request.set_call(which);
    Outgoing outgoing(worker_->regions());
    return call(request, outgoing);
  }

  void adopt(const wire::Provider& made) {
    handle_ = made.handle();
    for (const wire::Extension& extension : made.extensions()) {
      const std::string& id = extension.id();
      const uint32_t slots = extension.slots();
      if (id == EPH_EXT_RUN) runs_ = remote_table<eph_run_provider_api>(slots);
      if (id == EPH_EXT_SHAPES) shapes_ = remote_table<eph_shapes_provider_api>(slots);
      if (id == EPH_EXT_DEVICE_MEMORY) memory_ = remote_table<eph_device_memory_api>(slots);
      if (id == EPH_EXT_SHARED_CONTEXTS) contexts_ = remote_table<eph_shared_contexts_api>(slots);
      if (id == EPH_EXT_PROFILING) profiling_ = remote_table<eph_profiling_api>(slots);
      if (id == EPH_EXT_GRAPH_WISHES) wishes_ = remote_table<eph_graph_wishes_api>(slots);
    }
  }

  [[nodiscard]] const void* extension(std::string_view id) const {
    const auto offer = [](const auto& table) -> const void* { return table ? &*table : nullptr; };
    if (id == EPH_EXT_RUN) return offer(runs_);
    if (id == EPH_EXT_SHAPES) return offer(shapes_);
    if (id == EPH_EXT_DEVICE_MEMORY) return offer(memory_);
    if (id == EPH_EXT_SHARED_CONTEXTS) return offer(contexts_);
    if (id == EPH_EXT_PROFILING) return offer(profiling_);
    if (id == EPH_EXT_GRAPH_WISHES) return offer(wishes_);
    return nullptr;
  }
  [[nodiscard]] bool has_device_memory() const { return memory_.has_value(); }

  // An answer whose content a record points to as long as the provider lives.
  wire::Answer& keep(wire::Answer answer) {
    const std::lock_guard lock(mutex_);
    return answers_.emplace_back(std::move(answer));
  }
  Storage& storage() { return storage_; }

  // The payload of a context, which lives as long as the provider: shared memory, copied once where
  // it lies in none.
  Status refer_payload(eph_bytes payload, Outgoing& outgoing, wire::Shared& out) {
    const std::span bytes(static_cast<const std::byte*>(payload.data),
                          static_cast<size_t>(payload.size));
    if (bytes.empty() || outgoing.refer(bytes, out)) return {};
    const std::lock_guard lock(mutex_);
    auto copied = payloads_.find(payload.data);
    if (copied == payloads_.end() || copied->second.bytes().size() < bytes.size()) {
      EPHOST_ASSIGN_OR_RETURN(
          SharedMemory memory,
          SharedMemory::create("ephost-payload", bytes.size(), SharedAccess::kRead));
      std::memcpy(memory.bytes().data(), bytes.data(), bytes.size());
      copied = payloads_.insert_or_assign(payload.data, std::move(memory)).first;
    }
    if (!outgoing.refer(copied->second.region())) {
      return Status(StatusCode::kFail, "a call refers to too many payloads that lie in no file");
    }
    out.set_region(copied->second.region()->id);
    return {};
  }

 private:
  const std::shared_ptr<Worker> worker_;
  const HostTables host_;
  uint64_t handle_ = 0;
  std::optional<eph_run_provider_api> runs_;
  std::optional<eph_shapes_provider_api> shapes_;
  std::optional<eph_device_memory_api> memory_;
  std::optional<eph_shared_contexts_api> contexts_;
  std::optional<eph_profiling_api> profiling_;
  std::optional<eph_graph_wishes_api> wishes_;
  std::mutex mutex_;  // guards what follows
  std::deque<wire::Answer> answers_;
  std::map<const void*, SharedMemory> payloads_;
  Storage storage_;  // for [owner] functions
};

RunFacts facts_of(const wire::Computation& made, bool has_device_memory) {
  RunFacts facts;
  facts.computation = made.handle();
  facts.workspace_bytes = made.info().workspace_bytes();
  facts.alignment = made.info().host_alignment();
  facts.workspace_is_remote = has_device_memory;  // until `describe` of the memory says otherwise
  for (const wire::SlotPair& pair : made.info().aliases()) {
    facts.aliases.emplace_back(pair.input(), pair.output());
  }
  for (const wire::SlotPart& part : made.info().output_parts()) {
    facts.aliases.emplace_back(part.input(), part.output());
  }
  return facts;
}

RemoteComputation::RemoteComputation(RemoteProvider& of, const wire::Computation& made)
    : eph_computation{&table},
      provider(of),
      table(remote_table<eph_computation_api>(made.slots())),
      facts(facts_of(made, of.has_device_memory())),
      answer(made) {}

eph_computation* adopt_computation(RemoteProvider& provider, const wire::Computation& made) {
  return made.handle() == 0 ? nullptr : new RemoteComputation(provider, made);
}

// The function of a slot, as `call`.
template <auto Member>
struct Remote;

using Api = eph_provider_api;
using Computation = eph_computation_api;

int32_t list_devices(const eph_provider_api* self, wire::Call which, const eph_host* host,
                     eph_device_list* list, eph_error* error) noexcept {
  return answer_call(error, [&]() -> Result<int32_t> {
    const auto& table = static_cast<const RemoteTable&>(*self);
    EPHOST_ASSIGN_OR_RETURN(const auto worker, table.workers.front());
    const HostTables tables(host);
    Outgoing outgoing(worker->regions());
    wire::Request request;
    request.set_call(which);
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                            worker->call(request, outgoing, {.host = &tables}));
    Storage storage;
    for (const wire::Device& given : answer.devices()) {
      const eph_device device = read(given, storage);
      const int32_t code = list->api->add(list, &device, error);
      if (code != EPH_OK) return code;
    }
    return take_code(answer, error);
  });
}

template <>
struct Remote<&Api::get_devices> {
  static int32_t call(const Api* self, const eph_host* host, eph_device_list* list,
                      eph_error* error) noexcept {
    return list_devices(self, wire::PROVIDER_GET_DEVICES, host, list, error);
  }
};
template <>
struct Remote<&Api::list_targets> {
  static int32_t call(const Api* self, const eph_host* host, eph_device_list* list,
                      eph_error* error) noexcept {
    return list_devices(self, wire::PROVIDER_LIST_TARGETS, host, list, error);
  }
};

template <>
struct Remote<&Api::validate> {
  static int32_t call(const Api* self, const eph_host* host, const eph_device* device,
                      eph_string text, int32_t* out_verdict, eph_error* error) noexcept {
    *out_verdict = 0;
    return answer_call(error, [&]() -> Result<int32_t> {
      const auto& table = static_cast<const RemoteTable&>(*self);
      EPHOST_ASSIGN_OR_RETURN(const auto worker, table.workers.front());
      const HostTables tables(host);
      Outgoing outgoing(worker->regions());
      wire::Request request;
      request.set_call(wire::PROVIDER_VALIDATE);
      write(*device, *request.mutable_device());
      request.set_text(copy(text));
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              worker->call(request, outgoing, {.host = &tables}));
      *out_verdict = answer.verdict();
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Api::create> {
  static int32_t call(const Api* self, const eph_host* host, const eph_provider_config* config,
                      eph_provider** out_provider, eph_error* error) noexcept {
    *out_provider = nullptr;
    return answer_call(error, [&]() -> Result<int32_t> {
      const auto& table = static_cast<const RemoteTable&>(*self);
      EPHOST_ASSIGN_OR_RETURN(auto worker, table.workers.for_provider());
      auto provider = std::make_unique<RemoteProvider>(worker, host);
      wire::Request request;
      request.set_call(wire::PROVIDER_CREATE);
      write_config(*config, provider->host(), *request.mutable_create());
      Outgoing outgoing(worker->regions());
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider->call(request, outgoing));
      if (answer.provider().handle() != 0) {
        provider->adopt(answer.provider());
        *out_provider = provider.release()->handle();
      }
      return take_code(answer, error);
    });
  }

 private:
  static void write_config(const eph_provider_config& config, const HostTables& host,
                           wire::Create& out) {
    for (uint64_t i = 0; i < config.option_count; ++i) {
      write(config.options[i], *out.add_options());
    }
    const auto* device = reinterpret_cast<const std::byte*>(config.devices);
    for (uint64_t i = 0; i < config.device_count; ++i, device += config.device_stride) {
      write(*reinterpret_cast<const eph_device*>(device), *out.add_devices());
    }
    if (config.target != nullptr) write(*config.target, *out.mutable_target());
    out.set_directory(copy(config.directory));
    out.set_purpose(config.purpose);
    out.set_has_progress(host.progress != nullptr);
    out.set_has_constants(host.constants != nullptr);
    if (host.threads == nullptr) return;
    out.set_threads(host.threads->get_thread_count(host.host));
    out.set_library_threads(host.threads->get_library_thread_count(host.host));
  }
};

template <>
struct Remote<&Api::destroy> {
  static void call(eph_provider* handle) noexcept {
    if (handle == nullptr) return;
    const std::unique_ptr<RemoteProvider> own(&RemoteProvider::self(handle));
    answer_call(nullptr, [&]() -> Result<int32_t> {
      EPHOST_RETURN_IF_ERROR(own->call(wire::PROVIDER_DESTROY).status());
      return EPH_OK;
    });
  }
};

int32_t replay_claim(const wire::Claim& claim, eph_claims* claims, eph_error* error) {
  switch (claim.kind()) {
    case wire::Claim::NODE:
      return claims->api->claim_node(claims, claim.node(), error);
    case wire::Claim::FUSED: {
      eph_fused_claim fused = {};
      fused.struct_size = sizeof(fused);
      fused.name = text_of(claim.text());
      fused.nodes = claim.nodes().data();
      fused.node_count = static_cast<uint64_t>(claim.nodes_size());
      fused.flags = claim.flags();
      fused.token = claim.token();
      return claims->api->claim_fused(claims, &fused, error);
    }
    default:
      claims->api->decline(claims, claim.node(), text_of(claim.text()));
      return EPH_OK;
  }
}

template <>
struct Remote<&Api::get_capability> {
  static int32_t call(eph_provider* handle, const eph_graph* graph, eph_claims* claims,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      Outgoing outgoing(provider.worker().regions());
      HostGraphs graphs(outgoing);
      wire::Request request;
      request.set_call(wire::PROVIDER_GET_CAPABILITY);
      wire::Graph& written = *request.mutable_graph();
      EPHOST_RETURN_IF_ERROR(graphs.write_all(graph, written));
      std::string& has_kernel = *request.mutable_has_kernel();
      has_kernel.resize(static_cast<size_t>(written.node_count()));
      for (uint32_t i = 0; i < has_kernel.size(); ++i) {
        has_kernel[i] = static_cast<char>(claims->api->has_kernel(claims, i) != 0);
      }
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing, &graphs));
      for (const wire::Claim& claim : answer.claims()) {
        const int32_t code = replay_claim(claim, claims, error);
        if (code != EPH_OK) return code;
      }
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Api::get_kernels> {
  static int32_t call(eph_provider* handle, const eph_kernel_def** out_kernels, uint64_t* out_count,
                      eph_error* error) noexcept {
    *out_kernels = nullptr;
    *out_count = 0;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, provider.call(wire::PROVIDER_GET_KERNELS));
      const wire::Answer& kept = provider.keep(std::move(answer));
      *out_kernels = read_all<eph_kernel_def>(
          kept.kernels(), provider.storage(),
          [&](const wire::Kernel& kernel) { return read(kernel, provider.storage()); });
      *out_count = static_cast<uint64_t>(kept.kernels_size());
      return take_code(kept, error);
    });
  }
};

template <>
struct Remote<&Api::create_kernel> {
  static int32_t call(eph_provider* handle, const eph_graph* graph, uint32_t node,
                      eph_computation** out_computation, eph_error* error) noexcept {
    *out_computation = nullptr;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      Outgoing outgoing(provider.worker().regions());
      HostGraphs graphs(outgoing);
      wire::Request request;
      request.set_call(wire::PROVIDER_CREATE_KERNEL);
      request.set_node(node);
      EPHOST_RETURN_IF_ERROR(graphs.write_one(graph, node, *request.mutable_graph()));
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing, &graphs));
      if (answer.computations_size() > 0) {
        *out_computation = adopt_computation(provider, answer.computations(0));
      }
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Api::compile> {
  static int32_t call(eph_provider* handle, const eph_partition* partitions, uint64_t stride,
                      uint64_t count, eph_computation** out_computations,
                      eph_error* error) noexcept {
    for (uint64_t i = 0; i < count; ++i) out_computations[i] = nullptr;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      Outgoing outgoing(provider.worker().regions());
      HostGraphs graphs(outgoing);
      wire::Request request;
      request.set_call(wire::PROVIDER_COMPILE);
      const auto* at = reinterpret_cast<const std::byte*>(partitions);
      for (uint64_t i = 0; i < count; ++i, at += stride) {
        EPHOST_RETURN_IF_ERROR(write_partition(*reinterpret_cast<const eph_partition*>(at),
                                               provider, outgoing, graphs,
                                               *request.add_partitions()));
      }
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing, &graphs));
      const auto made =
          std::min<uint64_t>(count, static_cast<uint64_t>(answer.computations_size()));
      for (uint64_t i = 0; i < made; ++i) {
        out_computations[i] = adopt_computation(provider, answer.computations(static_cast<int>(i)));
      }
      return take_code(answer, error);
    });
  }

 private:
  static Status write_partition(const eph_partition& partition, RemoteProvider& provider,
                                Outgoing& outgoing, HostGraphs& graphs, wire::Partition& out) {
    EPHOST_RETURN_IF_ERROR(graphs.write_all(partition.graph, *out.mutable_graph()));
    out.set_name(copy(partition.name));
    out.set_token(partition.token);
    if (partition.ep_context == nullptr) return {};
    const eph_ep_context& context = *partition.ep_context;
    wire::Context& written = *out.mutable_context();
    EPHOST_RETURN_IF_ERROR(provider.refer_payload(context.payload, outgoing,
                                                  *written.mutable_payload()->mutable_shared()));
    written.set_payload_size(context.payload.size);
    written.set_partition_name(copy(context.partition_name));
    written.set_source(copy(context.source));
    written.set_sdk_version(copy(context.sdk_version));
    written.set_hardware_architecture(copy(context.hardware_architecture));
    written.set_notes(copy(context.notes));
    written.set_max_size(context.max_size);
    written.set_main_context(context.main_context);
    for (uint64_t i = 0; i < context.constant_count; ++i) {
      wire::NamedValue& constant = *written.add_constants();
      constant.set_name(copy(context.constants[i].name));
      write(*context.constants[i].value, outgoing, *constant.mutable_value());
    }
    return {};
  }
};

template <>
struct Remote<&Api::get_ep_context_nodes> {
  static int32_t call(eph_provider* handle, eph_computation* const* computations, uint64_t count,
                      eph_context_writer* writer, eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      Outgoing outgoing(provider.worker().regions());
      wire::Request request;
      request.set_call(wire::PROVIDER_GET_EP_CONTEXT_NODES);
      for (uint64_t i = 0; i < count; ++i) {
        request.add_computations(RemoteComputation::self(computations[i]).facts.computation);
      }
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              provider.call(request, outgoing, nullptr, writer));
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Api::get_compatibility> {
  static int32_t call(eph_provider* handle, eph_string* out_text, eph_error* error) noexcept {
    *out_text = {};
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, provider.call(wire::PROVIDER_GET_COMPATIBILITY));
      const wire::Answer& kept = provider.keep(std::move(answer));
      *out_text = text_of(kept.text());
      return take_code(kept, error);
    });
  }
};

template <>
struct Remote<&Api::describe> {
  static int32_t call(eph_provider* handle, eph_provider_info* out, eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              RemoteProvider::self(handle).call(wire::PROVIDER_DESCRIBE));
      eph_provider_info info = {};
      info.max_concurrent = answer.max_concurrent();
      const int32_t filled = plugin::fill(info, out);
      return filled == EPH_OK ? take_code(answer, error) : filled;
    });
  }
};

template <>
struct Remote<&Api::get_extension> {
  static const void* call(eph_provider* handle, eph_string id) noexcept {
    return RemoteProvider::self(handle).extension(view(id));
  }
};

template <>
struct Remote<&Computation::destroy> {
  static void call(eph_computation* handle) noexcept {
    if (handle == nullptr) return;
    const std::unique_ptr<RemoteComputation> own(&RemoteComputation::self(handle));
    answer_call(nullptr, [&]() -> Result<int32_t> {
      wire::Request request;
      request.set_call(wire::COMPUTATION_DESTROY);
      request.set_computation(own->facts.computation);
      Outgoing outgoing(own->provider.worker().regions());
      EPHOST_RETURN_IF_ERROR(own->provider.call(request, outgoing).status());
      return EPH_OK;
    });
  }
};

template <>
struct Remote<&Computation::compute> {
  static int32_t call(eph_computation* handle, void* state, eph_run* run,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      const RemoteComputation& computation = RemoteComputation::self(handle);
      const RemoteProvider& provider = computation.provider;
      return provider.worker().compute(*run, computation.facts, state, provider.host(), error);
    });
  }
};

template <>
struct Remote<&Computation::describe> {
  static int32_t call(eph_computation* handle, eph_computation_info* out,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteComputation& computation = RemoteComputation::self(handle);
      const wire::Computation& answer = computation.answer;
      const int32_t filled = plugin::fill(read(answer.info(), computation.storage), out);
      if (filled != EPH_OK) return filled;
      if (answer.has_message()) error->api->set_message(error, text_of(answer.message()));
      return answer.described();
    });
  }
};

template <>
struct Remote<&Computation::create_state> {
  static int32_t call(eph_computation* handle, void** out_state, eph_error* error) noexcept {
    *out_state = nullptr;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteComputation& computation = RemoteComputation::self(handle);
      wire::Request request;
      request.set_call(wire::COMPUTATION_CREATE_STATE);
      request.set_computation(computation.facts.computation);
      Outgoing outgoing(computation.provider.worker().regions());
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              computation.provider.call(request, outgoing));
      *out_state = reinterpret_cast<void*>(answer.handle());
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Computation::release_state> {
  static void call(eph_computation* handle, void* state) noexcept {
    answer_call(nullptr, [&]() -> Result<int32_t> {
      RemoteComputation& computation = RemoteComputation::self(handle);
      wire::Request request;
      request.set_call(wire::COMPUTATION_RELEASE_STATE);
      request.set_computation(computation.facts.computation);
      request.set_state(reinterpret_cast<uint64_t>(state));
      Outgoing outgoing(computation.provider.worker().regions());
      EPHOST_RETURN_IF_ERROR(computation.provider.call(request, outgoing).status());
      return EPH_OK;
    });
  }
};

template <>
struct Remote<&eph_shared_contexts_api::list_partitions> {
  static int32_t call(eph_provider* handle, eph_bytes payload, eph_name_list* list,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      Outgoing outgoing(provider.worker().regions());
      wire::Request request;
      request.set_call(wire::CONTEXTS_LIST_PARTITIONS);
      request.set_size(payload.size);
      EPHOST_RETURN_IF_ERROR(
          provider.refer_payload(payload, outgoing, *request.mutable_data()->mutable_shared()));
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing));
      for (const std::string& name : answer.names()) {
        const int32_t code = list->api->add(list, text_of(name), error);
        if (code != EPH_OK) return code;
      }
      return take_code(answer, error);
    });
  }
};

using Memory = eph_device_memory_api;

template <>
struct Remote<&Memory::get_memories> {
  static int32_t call(eph_provider* handle, const eph_memory** out_memories, uint64_t* out_count,
                      eph_error* error) noexcept {
    *out_memories = nullptr;
    *out_count = 0;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, provider.call(wire::MEMORY_GET_MEMORIES));
      const wire::Answer& kept = provider.keep(std::move(answer));
      *out_memories =
          read_all<eph_memory>(kept.memories(), provider.storage(), [](const wire::Memory& memory) {
            return eph_memory{text_of(memory.name()), memory.alignment()};
          });
      *out_count = static_cast<uint64_t>(kept.memories_size());
      return take_code(kept, error);
    });
  }
};

template <>
struct Remote<&Memory::describe> {
  static int32_t call(eph_provider* handle, eph_computation* of, eph_computation_memory* out,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      RemoteComputation& computation = RemoteComputation::self(of);
      wire::Request request;
      request.set_call(wire::MEMORY_DESCRIBE);
      request.set_computation(computation.facts.computation);
      Outgoing outgoing(provider.worker().regions());
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, provider.call(request, outgoing));
      computation.memory = std::move(*answer.mutable_memory());
      computation.facts.workspace_is_remote = computation.memory.memory() != 0;
      const int32_t filled = plugin::fill(read(computation.memory, computation.storage), out);
      return filled == EPH_OK ? take_code(answer, error) : filled;
    });
  }
};

template <>
struct Remote<&Memory::allocate> {
  static int32_t call(eph_provider* handle, uint32_t memory, uint64_t size, void** out_data,
                      eph_error* error) noexcept {
    *out_data = nullptr;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      wire::Request request;
      request.set_call(wire::MEMORY_ALLOCATE);
      request.set_memory(memory);
      request.set_size(size);
      Outgoing outgoing(provider.worker().regions());
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing));
      *out_data = reinterpret_cast<void*>(answer.handle());
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Memory::release> {
  static void call(eph_provider* handle, uint32_t memory, void* data) noexcept {
    answer_call(nullptr, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      wire::Request request;
      request.set_call(wire::MEMORY_RELEASE);
      request.set_memory(memory);
      request.set_address(reinterpret_cast<uint64_t>(data));
      Outgoing outgoing(provider.worker().regions());
      EPHOST_RETURN_IF_ERROR(provider.call(request, outgoing).status());
      return EPH_OK;
    });
  }
};

template <>
struct Remote<&Memory::copy> {
  static int32_t call(eph_provider* handle, uint32_t to_memory, void* to, uint32_t from_memory,
                      const void* from, uint64_t size, eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      wire::Request request;
      request.set_call(wire::MEMORY_COPY);
      request.set_memory(to_memory);
      request.set_from_memory(from_memory);
      Outgoing outgoing(provider.worker().regions());
      // Host memory on one side: in a region, or in one made for the call.
      void* const host = to_memory == 0 ? to : const_cast<void*>(from);
      const std::span<std::byte> bytes(static_cast<std::byte*>(host), static_cast<size_t>(size));
      SharedMemory staging;
      if (to_memory != 0) request.set_address(reinterpret_cast<uint64_t>(to));
      if (from_memory != 0) request.set_from_address(reinterpret_cast<uint64_t>(from));
      if (to_memory == 0 || from_memory == 0) {
        const auto place =
            outgoing.place(bytes, to_memory == 0 ? SharedAccess::kReadWrite : SharedAccess::kRead);
        wire::Shared& shared = *request.mutable_data()->mutable_shared();
        if (place) {
          shared.set_region(place->region->id);
          shared.set_offset(place->offset);
        } else {
          EPHOST_ASSIGN_OR_RETURN(
              staging, SharedMemory::create("ephost-copy", bytes.size(), SharedAccess::kReadWrite));
          if (from_memory == 0) std::memcpy(staging.bytes().data(), bytes.data(), bytes.size());
          (void)outgoing.refer(staging.region());  // the message has no other
          shared.set_region(staging.region()->id);
        }
      }
      request.set_size(size);
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing));
      if (to_memory == 0 && !staging.bytes().empty() && answer.code() == EPH_OK) {
        std::memcpy(bytes.data(), staging.bytes().data(), bytes.size());
      }
      return take_code(answer, error);
    });
  }
};

using Runs = eph_run_provider_api;

template <>
struct Remote<&Runs::begin_run> {
  static int32_t call(eph_provider* handle, const eph_run_config* config,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      wire::Request request;
      request.set_call(wire::RUN_BEGIN);
      request.set_run_id(config->run_id);
      request.set_text(copy(config->tag));
      request.set_deadline_ns(config->deadline_ns);
      for (uint64_t i = 0; i < config->option_count; ++i) {
        write(config->options[i], *request.add_options());
      }
      Outgoing outgoing(provider.worker().regions());
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing));
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Runs::end_run> {
  static int32_t call(eph_provider* handle, uint64_t run_id, int32_t code,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      wire::Request request;
      request.set_call(wire::RUN_END);
      request.set_run_id(run_id);
      request.set_code(code);
      Outgoing outgoing(provider.worker().regions());
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing));
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Runs::set_options> {
  static int32_t call(eph_provider* handle, const eph_option* options, uint64_t count,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      wire::Request request;
      request.set_call(wire::RUN_SET_OPTIONS);
      for (uint64_t i = 0; i < count; ++i) write(options[i], *request.add_options());
      Outgoing outgoing(provider.worker().regions());
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing));
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&eph_profiling_api::start> {
  static int32_t call(eph_provider* handle, eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              RemoteProvider::self(handle).call(wire::PROFILING_START));
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&eph_profiling_api::stop> {
  static int32_t call(eph_provider* handle, eph_event_list* list, eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              RemoteProvider::self(handle).call(wire::PROFILING_STOP));
      for (const wire::Event& given : answer.events()) {
        Storage storage;
        const eph_event event = read(given, storage);
        const int32_t code = list->api->add(list, &event, error);
        if (code != EPH_OK) return code;
      }
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&eph_graph_wishes_api::get_kept_operators> {
  static int32_t call(eph_provider* handle, const eph_kept_operator** out_operators,
                      uint64_t* out_count, eph_error* error) noexcept {
    *out_operators = nullptr;
    *out_count = 0;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, provider.call(wire::WISHES_GET_KEPT_OPERATORS));
      const wire::Answer& kept = provider.keep(std::move(answer));
      *out_operators =
          read_all<eph_kept_operator>(kept.kept(), provider.storage(),
                                      [](const wire::KeptOperator& entry) { return read(entry); });
      *out_count = static_cast<uint64_t>(kept.kept_size());
      return take_code(kept, error);
    });
  }
};

using Shapes = eph_shapes_provider_api;

template <>
struct Remote<&Shapes::set_profiles> {
  static int32_t call(eph_provider* handle, const eph_shape_profile* profiles, uint64_t count,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      wire::Request request;
      request.set_call(wire::SHAPES_SET_PROFILES);
      for (uint64_t i = 0; i < count; ++i) write(profiles[i], *request.add_profiles());
      Outgoing outgoing(provider.worker().regions());
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing));
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Shapes::get_wishes> {
  static int32_t call(eph_provider* handle, const eph_graph* graph, eph_shape_wishes* wishes,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      Outgoing outgoing(provider.worker().regions());
      HostGraphs graphs(outgoing);
      wire::Request request;
      request.set_call(wire::SHAPES_GET_WISHES);
      EPHOST_RETURN_IF_ERROR(graphs.write_all(graph, *request.mutable_graph()));
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing, &graphs));
      for (const wire::Wish& wish : answer.wishes()) {
        Storage storage;
        const int32_t code = wishes->api->add(
            wishes, wish.nodes().data(), static_cast<uint64_t>(wish.nodes_size()),
            read(wish.symbols(), storage), static_cast<uint64_t>(wish.symbols_size()), error);
        if (code != EPH_OK) return code;
      }
      return take_code(answer, error);
    });
  }
};

}  // namespace

template <class Table>
Table remote_table(uint32_t slots) {
  Table table = {};
  table.struct_size = sizeof(table);
  uint32_t bit = 0;
  for_each_slot<Table>([&]<auto Member>() {
    if ((slots >> bit & 1) != 0) table.*Member = &Remote<Member>::call;
    ++bit;
  });
  return table;
}

void fill_remote_table(RemoteTable& table, uint32_t slots) {
  static_cast<eph_provider_api&>(table) = remote_table<eph_provider_api>(slots);
}

}  // namespace ephost::worker
