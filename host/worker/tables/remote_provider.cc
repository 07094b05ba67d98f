// The functions of providers.
#include <algorithm>
#include <cstring>
#include <span>

#include "host/worker/protocol/arena_message.h"
#include "host/worker/tables/remote_call.h"
#include "host/worker/tables/remote_device.h"

namespace ephost::worker {

Result<wire::Answer> RemoteProvider::call(wire::Request& request, Outgoing& outgoing,
                                          Subjects subjects) {
  request.set_provider(handle_);
  subjects.host = &host_;
  return worker_->call(request, outgoing, subjects);
}

Result<wire::Answer> RemoteProvider::call_by(HostChannel& channel, wire::Request& request,
                                             Outgoing& outgoing) {
  request.set_provider(handle_);
  return worker_->call_by(channel, request, outgoing, {.host = &host_});
}

Status RemoteProvider::refer_payload(eph_bytes payload, Outgoing& outgoing, wire::Shared& out) {
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

using Api = eph_provider_api;

namespace {

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

}  // namespace

template <>
struct Remote<&Api::create> {
  static int32_t call(const Api* self, const eph_host* host, const eph_provider_config* config,
                      eph_provider** out_provider, eph_error* error) noexcept {
    *out_provider = nullptr;
    return answer_call(error, [&]() -> Result<int32_t> {
      const auto& table = static_cast<const RemoteTable&>(*self);
      EPHOST_ASSIGN_OR_RETURN(auto worker, worker_for(*config, table));
      auto provider = std::make_unique<RemoteProvider>(worker, host);
      wire::Request request;
      request.set_call(kCall<&Api::create>);
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
  // That of its devices.
  static Result<std::shared_ptr<Worker>> worker_for(const eph_provider_config& config,
                                                    const RemoteTable& table) {
    if (config.opened == nullptr || config.device_count == 0) return table.workers.for_provider();
    const std::shared_ptr<Worker>& worker = RemoteDevice::self(config.opened[0]).worker();
    for (uint64_t i = 1; i < config.device_count; ++i) {
      if (RemoteDevice::self(config.opened[i]).worker() == worker) continue;
      return Status(StatusCode::kDeviceLost, "the worker of some of the devices has ended");
    }
    return worker;
  }
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
    for (uint64_t i = 0; config.opened != nullptr && i < config.device_count; ++i) {
      out.add_opened(RemoteDevice::self(config.opened[i]).opened());
    }
    write_offer(host, out);
  }
};

template <>
struct Remote<&Api::destroy> {
  static void call(eph_provider* handle) noexcept {
    if (handle == nullptr) return;
    const std::unique_ptr<RemoteProvider> own(&RemoteProvider::self(handle));
    own->call_release(kCall<&Api::destroy>, [](wire::Request&) {});
  }
};

template <>
struct Remote<&Api::get_capability> {
  static int32_t call(eph_provider* handle, const eph_graph* graph, eph_claims* claims,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      Outgoing outgoing(provider.worker().regions());
      HostGraphs graphs(outgoing);
      const ArenaMessage<wire::Request> message;
      wire::Request& request = *message;
      request.set_call(kCall<&Api::get_capability>);
      wire::Graph& written = *request.mutable_graph();
      EPHOST_RETURN_IF_ERROR(graphs.write_all(graph, written));
      const Subjects subjects = {
          .graphs = &graphs, .claims = claims, .node_count = written.node_count()};
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              provider.call(request, outgoing, subjects));
      for (const wire::Claim& claim : answer.claims()) {
        const int32_t code = replay_claim(claim, claims, error);
        if (code != EPH_OK) return code;
      }
      return take_code(answer, error);
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
      const ArenaMessage<wire::Request> message;
      wire::Request& request = *message;
      request.set_call(kCall<&Api::create_kernel>);
      request.set_node(node);
      EPHOST_RETURN_IF_ERROR(graphs.write_one(graph, node, *request.mutable_graph()));
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              provider.call(request, outgoing, {.graphs = &graphs}));
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
      const ArenaMessage<wire::Request> message;
      wire::Request& request = *message;
      request.set_call(kCall<&Api::compile>);
      expect(partitions, stride, count, graphs);
      const auto* at = reinterpret_cast<const std::byte*>(partitions);
      for (uint64_t i = 0; i < count; ++i, at += stride) {
        EPHOST_RETURN_IF_ERROR(write_partition(*reinterpret_cast<const eph_partition*>(at),
                                               provider, outgoing, graphs,
                                               *request.add_partitions()));
      }
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              provider.call(request, outgoing, {.graphs = &graphs}));
      const auto made =
          std::min<uint64_t>(count, static_cast<uint64_t>(answer.computations_size()));
      for (uint64_t i = 0; i < made; ++i) {
        out_computations[i] = adopt_computation(provider, answer.computations(static_cast<int>(i)));
      }
      return take_code(answer, error);
    });
  }

 private:
  static void expect(const eph_partition* partitions, uint64_t stride, uint64_t count,
                     HostGraphs& graphs) {
    uint64_t nodes = 0;
    uint64_t values = 0;
    const auto* at = reinterpret_cast<const std::byte*>(partitions);
    for (uint64_t i = 0; i < count; ++i, at += stride) {
      const eph_graph* const graph = reinterpret_cast<const eph_partition*>(at)->graph;
      eph_graph_info info = {};
      info.struct_size = sizeof(info);
      if (graph->api->get_graph(graph, &info, nullptr) != EPH_OK) continue;
      nodes += info.node_count;
      values += info.value_count;
    }
    graphs.expect(nodes, values);
  }
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
      request.set_call(kCall<&Api::get_ep_context_nodes>);
      for (uint64_t i = 0; i < count; ++i) {
        request.add_computations(RemoteComputation::self(computations[i]).facts.computation);
      }
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              provider.call(request, outgoing, {.writer = writer}));
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Api::get_provider_extension> {
  static const void* call(eph_provider* handle, eph_string id) noexcept {
    return RemoteProvider::self(handle).extension(view(id));
  }
};

template <>
struct Remote<&Api::get_extension> {
  static const void* call(const Api* self, eph_string id) noexcept {
    const auto& table = static_cast<const RemoteTable&>(*self);
    return view(id) == EPH_EXT_DEVICE && table.devices ? &*table.devices : nullptr;
  }
};

void fill_remote_table(uint32_t slots, eph_provider_api& out) { fill_slots(slots, out); }

}  // namespace ephost::worker
