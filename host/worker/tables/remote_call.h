// A call of a slot in a worker whose arguments say all that there is to do: each is put into the
// request, or taken from the answer, in the way of its type, so that most slots need no code of
// their own. A type of argument that is missing here does not compile.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "host/plugin/adopt.h"
#include "host/worker/protocol/calls.h"
#include "host/worker/tables/remote_device.h"
#include "host/worker/tables/remote_provider.h"

namespace ephost::worker {

class RemoteCall {
 public:
  RemoteCall(uint32_t call, eph_error* error) : error_(error) { request_.set_call(call); }

  // What the call is about: the first argument of the slot.
  Status bind(const eph_provider_api* self);
  Status bind(eph_provider* handle);
  Status bind(eph_computation* handle);
  Status bind(eph_device_handle* handle);

  // Clears the results before the call.
  template <class Argument>
  static void clear(Argument) {}
  template <class T>
  static void clear(T** out) {
    *out = nullptr;
  }
  static void clear(int32_t* out) { *out = 0; }
  static void clear(uint64_t* out) { *out = 0; }
  static void clear(eph_string* out) { *out = {}; }

  Status send_all() { return {}; }
  template <class First, class... Rest>
  Status send_all(First first, Rest... rest) {
    EPHOST_RETURN_IF_ERROR(send(first, rest...));
    return send_all(rest...);
  }
  // Makes the call. What results point to lives as long as the provider if `keeps_answer`.
  Status make(bool keeps_answer);
  // The code of the plugin, or of the first list of the host that takes no entry.
  int32_t take_all() { return take_code(*answer_, error_); }
  template <class First, class... Rest>
  int32_t take_all(First first, Rest... rest) {
    const int32_t code = take(first, rest...);
    return code == EPH_OK ? take_all(rest...) : code;
  }

 private:
  // What goes along. An array takes its length from the argument after it, which goes along too.
  Status send(std::integral auto number, auto...) {
    request_.add_numbers(static_cast<uint64_t>(number));
    return {};
  }
  Status send(void* address, auto...) { return send(reinterpret_cast<uint64_t>(address)); }
  Status send(eph_computation* computation, auto...) {
    return send(RemoteComputation::self(computation).facts.computation);
  }
  Status send(eph_string text, auto...) {
    request_.add_texts(copy(text));
    return {};
  }
  Status send(eph_bytes payload, auto...) {
    EPHOST_RETURN_IF_ERROR(
        provider_->refer_payload(payload, *outgoing_, *request_.mutable_data()->mutable_shared()));
    return send(payload.size);
  }
  Status send(const eph_host* host, auto...) {
    subjects_.host = &host_.emplace(host);
    return {};
  }
  Status send(const eph_graph* graph, auto...) {
    subjects_.graphs = &graphs_.emplace(*outgoing_);
    return graphs_->write_outline(graph, *request_.mutable_graph());
  }
  Status send(const eph_device* device, auto...) {
    write(*device, *request_.mutable_device());
    return {};
  }
  Status send(const eph_run_config* config, auto...) {
    EPHOST_RETURN_IF_ERROR(send(config->run_id));
    EPHOST_RETURN_IF_ERROR(send(config->tag));
    EPHOST_RETURN_IF_ERROR(send(config->deadline_ns));
    return send(config->options, config->option_count);
  }
  template <class Record>
  Status send(const Record* records, [[maybe_unused]] uint64_t stride, uint64_t count, auto...) {
    return send(records, count);
  }
  template <class Record>
  Status send(const Record* records, uint64_t count, auto...) {
    auto& field = RecordField<Record>::of(request_);
    for (uint64_t i = 0; i < count; ++i) write(records[i], *field.Add());
    return {};
  }

  template <class Result>
  requires kIsResult<Result> Status send(Result, auto...) { return {}; }
  Status send(eph_error*, auto...) { return {}; }

  // What comes back.
  template <class Argument>
  requires(!kIsResult<Argument>) int32_t take(Argument, auto...) { return EPH_OK; }
  int32_t take(int32_t* out, auto...) {
    *out = static_cast<int32_t>(number());
    return EPH_OK;
  }
  int32_t take(void** out, auto...) {
    *out = reinterpret_cast<void*>(number());
    return EPH_OK;
  }
  int32_t take(eph_string* out, auto...) {
    if (answer_->texts_size() > texts_) *out = text_of(answer_->texts(texts_++));
    return EPH_OK;
  }
  int32_t take(eph_provider_info* out, auto...) {
    eph_provider_info info = {};
    info.max_concurrent = static_cast<uint32_t>(number());
    return plugin::fill(info, out);
  }
  int32_t take(eph_memory_usage* out, auto...) {
    eph_memory_usage usage = {};
    usage.total_bytes = number();
    usage.free_bytes = number();
    usage.kept_bytes = number();
    return plugin::fill(usage, out);
  }
  template <class Record>
  int32_t take(const Record** out, uint64_t* out_count, auto...) {
    const auto& field = RecordField<Record>::of(*answer_);
    *out = read_all<Record>(field, provider_->storage());
    *out_count = static_cast<uint64_t>(field.size());
    return EPH_OK;
  }
  template <class Record>
  int32_t take(const Record** out, uint64_t* out_stride, uint64_t* out_count, auto...) {
    *out_stride = sizeof(Record);
    return take(out, out_count);
  }
  int32_t take(uint64_t*, auto...) { return EPH_OK; }  // set with its array
  int32_t take(eph_device_list* list, auto...) { return add_all<eph_device>(list); }
  int32_t take(eph_event_list* list, auto...) { return add_all<eph_event>(list); }
  int32_t take(eph_name_list* list, auto...);
  int32_t take(eph_shape_wishes* wishes, auto...);

  template <class Record, class List>
  int32_t add_all(List* list) {
    for (const auto& entry : RecordField<Record>::of(*answer_)) {
      Storage storage;
      const Record record = read(entry, storage);
      const int32_t code = list->api->add(list, &record, error_);
      if (code != EPH_OK) return code;
    }
    return EPH_OK;
  }
  // The next one of the answer; 0 where that has no more.
  uint64_t number() {
    return answer_->numbers_size() > numbers_ ? answer_->numbers(numbers_++) : 0;
  }

  eph_error* const error_;
  std::shared_ptr<Worker> front_;       // of a slot that needs no provider
  RemoteDevice* device_ = nullptr;      // of one that needs a device
  RemoteProvider* provider_ = nullptr;  // of every other
  std::optional<Outgoing> outgoing_;
  std::optional<HostGraphs> graphs_;
  std::optional<HostTables> host_;
  Subjects subjects_;
  wire::Request request_;
  wire::Answer own_answer_;
  const wire::Answer* answer_ = nullptr;
  int numbers_ = 0;  // that were taken
  int texts_ = 0;    // likewise
};

int32_t RemoteCall::take(eph_name_list* list, auto...) {
  for (const std::string& name : answer_->names()) {
    const int32_t code = list->api->add(list, text_of(name), error_);
    if (code != EPH_OK) return code;
  }
  return EPH_OK;
}

int32_t RemoteCall::take(eph_shape_wishes* wishes, auto...) {
  for (const wire::Wish& wish : answer_->wishes()) {
    Storage storage;
    const int32_t code = wishes->api->add(
        wishes, wish.nodes().data(), static_cast<uint64_t>(wish.nodes_size()),
        read(wish.symbols(), storage), static_cast<uint64_t>(wish.symbols_size()), error_);
    if (code != EPH_OK) return code;
  }
  return EPH_OK;
}

template <class Argument>
inline constexpr bool kPointsIntoAnswer = std::is_same_v<Argument, eph_string*>;
template <class Record>
inline constexpr bool kPointsIntoAnswer<const Record**> = true;

template <auto Member, class Type = decltype(Member)>
struct RemoteSlot;
template <auto Member, class R, class Table, class Self, class... A>
struct RemoteSlot<Member, R (*Table::*)(Self*, A...) noexcept> {
  static R call(Self* self, A... arguments) noexcept {
    (RemoteCall::clear(arguments), ...);
    const int32_t code = answer_call(error_of(arguments...), [&]() -> Result<int32_t> {
      RemoteCall call(kCall<Member>, error_of(arguments...));
      EPHOST_RETURN_IF_ERROR(call.bind(self));
      EPHOST_RETURN_IF_ERROR(call.send_all(arguments...));
      EPHOST_RETURN_IF_ERROR(call.make((kPointsIntoAnswer<A> || ...)));
      return call.take_all(arguments...);
    });
    if constexpr (!std::is_void_v<R>) return code;
  }

 private:
  // The last argument. What releases something has none: whatever becomes of the worker, it is
  // gone.
  static eph_error* error_of() { return nullptr; }
  template <class First, class... Rest>
  static eph_error* error_of(First first, Rest... rest) {
    if constexpr (std::is_same_v<First, eph_error*>) {
      return first;
    } else {
      return error_of(rest...);
    }
  }
};

// The function of a slot, as `call`. One that does more is specialised before the table is filled.
template <auto Member>
struct Remote : RemoteSlot<Member> {};

// Makes `out` a table of the functions whose bits are set in `slots`, without names.
template <class Table>
void fill_slots(uint32_t slots, Table& out) {
  out = {};
  out.struct_size = sizeof(out);
  uint32_t bit = 0;
  plugin::for_each_slot<Table>([&]<auto Member>() {
    // Streams stay in the process: without them, work has ended when a call returns.
    if constexpr (!plugin::kIsOfThisProcess<Member>) {
      if ((slots >> bit & 1) != 0) out.*Member = &Remote<Member>::call;
    }
    ++bit;
  });
}

}  // namespace ephost::worker
