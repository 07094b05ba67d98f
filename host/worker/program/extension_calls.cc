// Calls of extensions that do more than their arguments say.
#include "host/plugin/adopt.h"
#include "host/worker/program/collectors.h"
#include "host/worker/program/served_calls.h"

namespace ephost::worker {

using Memory = eph_device_memory_api;

template <>
void ServedCalls::serve<&Memory::describe>(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  const ServedProvider& provider = provider_of(request);
  const ServedComputation& of = computation_of(request.computation());
  const plugin::CallSite described = site("describe", of.kind, of.name);
  eph_computation_memory info = {};
  info.struct_size = sizeof(info);
  info.memory = 1;
  if (!call_slot(described, out, provider.extension<Memory>().describe, provider.handle, of.handle,
                 &info))
    return;
  const auto adopted = plugin::adopt<eph_computation_memory>(&info, described);
  if (!adopted.ok()) return fail(out, adopted.status());
  Status arrays =
      plugin::check_array(adopted->inputs, adopted->input_count, kMaxEntries, described, "inputs");
  if (arrays.ok()) {
    arrays = plugin::check_array(adopted->outputs, adopted->output_count, kMaxEntries, described,
                                 "outputs");
  }
  if (!arrays.ok()) return fail(out, arrays);
  write(*adopted, *out.mutable_memory());
}

// The host's side of the copy is a place in shared memory, whose address is 0.
template <>
void ServedCalls::serve<&Memory::copy>(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  const ServedProvider& provider = provider_of(request);
  const auto to_memory = static_cast<uint32_t>(request.numbers(0));
  void* to = reinterpret_cast<void*>(request.numbers(1));
  const auto from_memory = static_cast<uint32_t>(request.numbers(2));
  const void* from = reinterpret_cast<const void*>(request.numbers(3));
  const uint64_t size = request.numbers(4);
  if (request.has_data()) {
    const auto bytes = shared_bytes(request.data().shared(), size);
    if (!bytes.ok()) return fail(out, bytes.status());
    if (to_memory == 0) to = bytes->data();
    if (from_memory == 0) from = bytes->data();
  }
  call_slot(site("copy"), out, provider.extension<Memory>().copy, provider.handle, to_memory, to,
            from_memory, from, size);
}

void ServedCalls::infer(const Call& call, wire::Answer& out) {
  const eph_operator_def* const definition = definitions_.at(call->request().node());
  ServedInference inference(*call, out);
  call_slot(site("infer", view(definition->op_type)), out, definition->infer, definition,
            static_cast<eph_inference*>(&inference));
}

}  // namespace ephost::worker
