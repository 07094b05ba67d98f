#include "host/worker/program/served_calls.h"

#include "host/base/format.h"
#include "host/worker/program/served_slot.h"
#include "host/worker/protocol/calls.h"

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
  const uint32_t asked = call->request().call();
  if (asked == kLoad) {
    const Status loaded = load(call->request().load(), *out.mutable_loaded());
    if (!loaded.ok()) fail(out, loaded);
    return;
  }
  if (asked == kInfer) return infer(call, out);
  bool is_known = false;
  plugin::ProviderTables::for_each([&]<class Table>() {
    plugin::for_each_slot<Table>([&]<auto Member>() {
      if constexpr (!kIsNeverAsked<Member> && !plugin::kIsOfThisProcess<Member>) {
        if (asked != kCall<Member>) return;
        is_known = true;
        serve<Member>(call, out);
      }
    });
  });
  if (is_known) return;
  fail(out, Status(StatusCode::kNotImplemented, formatted("the worker knows no call {}", asked)));
}

}  // namespace ephost::worker
