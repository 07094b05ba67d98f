// Calls that make computations, or are about them.
#include <utility>

#include "host/base/format.h"
#include "host/plugin/adopt.h"
#include "host/worker/program/collectors.h"
#include "host/worker/program/served_calls.h"
#include "host/worker/program/served_graph.h"

namespace ephost::worker {

// `describe` is called at once, so that it needs no call of its own.
Status ServedCalls::add_computation(const Call& call, eph_computation* made, std::string_view slot,
                                    std::string kind, std::string of, wire::Answer& out) {
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
        check(adopted->input_memories, adopted->input_memory_count, "input_memories");
        check(adopted->output_memories, adopted->output_memory_count, "output_memories");
        check(adopted->unread_inputs, adopted->unread_input_count, "unread_inputs");
        check(adopted->must_share, adopted->must_share_count, "must_share");
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

template <>
void ServedCalls::serve<&eph_provider_api::create_kernel>(const Call& call, wire::Answer& out) {
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

Status ServedCalls::read_context(CallState& call, const wire::Context& given, eph_ep_context& out) {
  out.struct_size = sizeof(out);
  out.payload.size = given.payload_size();
  out.payload.data = no_bytes();
  if (given.payload_size() != 0) {
    EPHOST_ASSIGN_OR_RETURN(const auto bytes,
                            shared_bytes(given.payload().shared(), given.payload_size()));
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

template <>
void ServedCalls::serve<&eph_provider_api::compile>(const Call& call, wire::Answer& out) {
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

template <>
void ServedCalls::serve<&eph_provider_api::get_ep_context_nodes>(const Call& call,
                                                                 wire::Answer& out) {
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

void ServedCalls::destroy_computation(uint64_t handle) {
  const std::unique_ptr<ServedComputation> own(&computation_of(handle));
  plugin::call_release(site("destroy", own->kind, own->name), own->table.destroy, own->handle);
}

// Of all answers, only those with computations can be too large to be sent.
void ServedCalls::discard(const wire::Answer& answer) {
  for (const wire::Computation& made : answer.computations()) {
    if (made.handle() != 0) destroy_computation(made.handle());
  }
}

template <>
void ServedCalls::serve<&eph_computation_api::destroy>(const Call& call, wire::Answer&) {
  destroy_computation(call->request().computation());
}

}  // namespace ephost::worker
