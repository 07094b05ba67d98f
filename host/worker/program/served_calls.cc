#include "host/worker/program/served_calls.h"

#include "host/base/format.h"

namespace ephost::worker {

void ServedCalls::compute(WorkerChannel& channel, RunMemory& memory,
                          std::span<const std::byte> plain, CallState* call, wire::Answer& out) {
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

void ServedCalls::answer(const Call& call, wire::Answer& out) {
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
    case wire::PROVIDER_GET_COMPATIBILITY:
      return get_compatibility(request, out);
    case wire::PROVIDER_DESCRIBE:
      return describe(request, out);
    case wire::COMPUTATION_DESTROY:
    case wire::COMPUTATION_CREATE_STATE:
    case wire::COMPUTATION_RELEASE_STATE:
      return answer_computation(request, out);
    case wire::CONTEXTS_LIST_PARTITIONS:
      return list_partitions(request, out);
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
    case wire::PROFILING_STOP:
      return answer_profiling(request, out);
    case wire::WISHES_GET_KEPT_OPERATORS:
      return get_kept_operators(request, out);
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

}  // namespace ephost::worker
