// The functions of computations.
#include <memory>
#include <set>

#include "host/plugin/adopt.h"
#include "host/worker/tables/remote_call.h"

namespace ephost::worker {
namespace {

RunFacts facts_of(const wire::Computation& made) {
  RunFacts facts;
  facts.computation = made.handle();
  facts.workspace_bytes = made.info().workspace_bytes();
  facts.alignment = made.info().host_alignment();
  facts.workspace_is_remote = made.info().memory() != 0;
  std::set<uint32_t> changed;  // where they are, whatever else is said of them
  for (const wire::SlotPair& pair : made.info().must_share()) changed.insert(pair.output());
  const auto add = [&](const auto& entry) {
    if (!changed.contains(entry.output())) {
      facts.aliases.emplace_back(entry.input(), entry.output());
    }
  };
  for (const wire::SlotPair& pair : made.info().aliases()) add(pair);
  for (const wire::SlotPart& part : made.info().output_parts()) add(part);
  return facts;
}

}  // namespace

RemoteComputation::RemoteComputation(RemoteProvider& of, const wire::Computation& made)
    : eph_computation{&table}, provider(of), facts(facts_of(made)), answer(made) {
  fill_remote_table(made.slots(), table);
}

eph_computation* adopt_computation(RemoteProvider& provider, const wire::Computation& made) {
  return made.handle() == 0 ? nullptr : new RemoteComputation(provider, made);
}

using Computation = eph_computation_api;

template <>
struct Remote<&Computation::destroy> {
  static void call(eph_computation* handle) noexcept {
    if (handle == nullptr) return;
    const std::unique_ptr<RemoteComputation> own(&RemoteComputation::self(handle));
    own->provider.call_release(kCall<&Computation::destroy>, [&](wire::Request& request) {
      request.set_computation(own->facts.computation);
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

void fill_remote_table(uint32_t slots, eph_computation_api& out) { fill_slots(slots, out); }

}  // namespace ephost::worker
