// The calls of the plugin in this process: each is made as a request describes it, and its
// results become the answer.
#pragma once

#include <ephost/ext/device.h>
#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/operators.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/run.h>
#include <ephost/ext/shapes.h>
#include <ephost/ext/shared_contexts.h>
#include <ephost/plugin_abi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/plugin/calls/call.h"
#include "host/plugin/registry.h"
#include "host/plugin/slots.h"
#include "host/worker/program/call_state.h"
#include "host/worker/program/served_host.h"
#include "host/worker/program/served_run.h"
#include "host/worker/protocol/error_text.h"
#include "host/worker/protocol/records.h"

namespace ephost::worker {

// More than any plugin has; one that claims more is broken.
inline constexpr uint64_t kMaxEntries = uint64_t{1} << 20;

// Bit n: slot n of the table is there.
template <class Table>
uint32_t slots_of(const Table& table) {
  uint32_t slots = 0;
  uint32_t bit = 1;
  plugin::for_each_slot<Table>([&]<auto Member>() {
    if (table.*Member != nullptr) slots |= bit;
    bit <<= 1;
  });
  return slots;
}

inline void fail(wire::Answer& answer, const Status& status) {
  answer.set_code(static_cast<int32_t>(status.code()));
  answer.set_has_message(true);
  answer.set_message(status.message());
}

// Calls a slot of the plugin; what it returned and said goes into the answer. Whether it succeeded.
template <class R, class... P, class... A>
bool call_slot(const plugin::CallSite& site, wire::Answer& answer, R (*slot)(P...),
               A... arguments) {
  ErrorText error;
  const Result<int32_t> code =
      plugin::call(site, slot, arguments..., static_cast<eph_error*>(&error));
  if (code.ok()) {
    set_code(*code, error, answer);
  } else {
    fail(answer, code.status());
  }
  return answer.code() == EPH_OK;
}

struct ServedProvider {
  ServedProvider(std::string_view provider, const wire::Create& offer)
      : name(provider), host(std::string(provider), offer) {}

  const std::string_view name;
  ServedHost host;
  eph_provider* handle = nullptr;
  plugin::ProviderExtensions::TupleOf<std::optional> extensions;

  template <class Table>
  [[nodiscard]] const Table& extension() const {
    return *std::get<std::optional<Table>>(extensions);
  }
};

struct ServedDevice {
  ServedDevice(std::string_view provider, const wire::Create& offer)
      : host(std::string(provider), offer) {}

  ServedHost host;
  eph_device_handle* handle = nullptr;
};

struct ServedComputation {
  eph_computation* handle = nullptr;
  eph_computation_api table = {};
  std::string_view provider;
  std::string kind;  // of its node or partition, and its name
  std::string name;
  std::shared_ptr<CallState> made_by;  // has the constants that it reads
};

inline ServedProvider& provider_of(const wire::Request& request) {
  return *reinterpret_cast<ServedProvider*>(request.provider());
}
inline ServedDevice& device_of(uint64_t opened) { return *reinterpret_cast<ServedDevice*>(opened); }
inline ServedComputation& computation_of(uint64_t handle) {
  return *reinterpret_cast<ServedComputation*>(handle);
}

class ServedCalls {
 public:
  using Call = std::shared_ptr<CallState>;

  // Answers any call but `compute`.
  void answer(const Call& call, wire::Answer& out);
  // `plain`: the run. `call`: of a run that came as a message, else null.
  void compute(WorkerChannel& channel, RunMemory& memory, std::span<const std::byte> plain,
               CallState* call, wire::Answer& out);
  // Destroys what was made for an answer that the host never gets.
  void discard(const wire::Answer& answer);

 private:
  [[nodiscard]] std::string_view name() const { return plugin_->manifest.provider; }
  [[nodiscard]] const eph_provider_api& api() const { return plugin_->provider; }
  [[nodiscard]] plugin::CallSite site(std::string_view slot, std::string_view kind = {},
                                      std::string_view subject = {}) const {
    return {name(), slot, kind, subject};
  }

  // loading_calls.cc
  Status load(const wire::Load& load, wire::Loaded& out);
  void load_devices(wire::Loaded& out);
  void load_operators(wire::Loaded& out);

  // Answers a call of a slot of the plugin. Most slots need no code of their own (served_slot.h).
  template <auto Member>
  void serve(const Call& call, wire::Answer& out);
  void infer(const Call& call, wire::Answer& out);

  // provider_calls.cc
  template <class Table>
  Status adopt_extension(ServedProvider& provider, wire::Provider& out);
  Status adopt_extensions(ServedProvider& provider, wire::Provider& out);

  // computation_calls.cc
  Status add_computation(const Call& call, eph_computation* made, std::string_view slot,
                         std::string kind, std::string of, wire::Answer& out);
  Status read_context(CallState& call, const wire::Context& given, eph_ep_context& out);
  void destroy_computation(uint64_t handle);

  std::unique_ptr<plugin::Registry> registry_;
  std::shared_ptr<const plugin::LoadedPlugin> plugin_;
  eph_device_api devices_ = {};  // if the plugin offers it
  const eph_device_api* devices_self_ = nullptr;
  std::vector<const eph_operator_def*> definitions_;
};

// Slots that do more than their arguments say.
#define EPHOST_SERVED_BY_HAND(slot) \
  template <>                       \
  void ServedCalls::serve<&slot>(const Call& call, wire::Answer& out);
EPHOST_SERVED_BY_HAND(eph_provider_api::create)
EPHOST_SERVED_BY_HAND(eph_provider_api::destroy)
EPHOST_SERVED_BY_HAND(eph_provider_api::get_capability)
EPHOST_SERVED_BY_HAND(eph_provider_api::create_kernel)
EPHOST_SERVED_BY_HAND(eph_provider_api::compile)
EPHOST_SERVED_BY_HAND(eph_provider_api::get_ep_context_nodes)
EPHOST_SERVED_BY_HAND(eph_computation_api::destroy)
EPHOST_SERVED_BY_HAND(eph_device_api::open)
EPHOST_SERVED_BY_HAND(eph_device_api::close)
EPHOST_SERVED_BY_HAND(eph_device_api::get_status)
EPHOST_SERVED_BY_HAND(eph_device_api::get_memories)
EPHOST_SERVED_BY_HAND(eph_device_api::copy)
#undef EPHOST_SERVED_BY_HAND

// Slots that a request never names: what they give is in the answer of what made their object, and
// a run has a form of its own.
template <auto Member>
inline constexpr bool kIsNeverAsked =
    plugin::kIsSame<Member, &eph_provider_api::get_extension> ||
    plugin::kIsSame<Member, &eph_provider_api::get_provider_extension> ||
    plugin::kIsSame<Member, &eph_computation_api::describe> ||
    plugin::kIsSame<Member, &eph_computation_api::compute>;

}  // namespace ephost::worker
