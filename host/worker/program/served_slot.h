// A call of a slot whose arguments say all that there is to do: the counterpart of
// host/worker/tables/remote_call.h. A type of argument that is missing here does not compile.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "host/plugin/adopt.h"
#include "host/worker/program/collectors.h"
#include "host/worker/program/served_calls.h"
#include "host/worker/program/served_graph.h"
#include "host/worker/protocol/calls.h"

namespace ephost::worker {

// The arguments of a slot in a request, one after the other, and its results in the answer.
class ServedArguments {
 public:
  // `site` is that of the call, `parameters` are the names of the slot's.
  ServedArguments(CallState& call, wire::Answer& out, plugin::CallSite site,
                  std::string_view parameters)
      : call_(call), out_(out), site_(site), parameters_(parameters) {}

  [[nodiscard]] CallState& call() { return call_; }
  [[nodiscard]] wire::Answer& out() { return out_; }
  [[nodiscard]] const plugin::CallSite& site() const { return site_; }
  // An argument or a result that cannot be used fails the call.
  [[nodiscard]] const Status& status() const { return status_; }

  // The name of the next argument.
  std::string_view next_parameter() {
    const std::string_view name = parameters_.substr(0, parameters_.find(' '));
    parameters_.remove_prefix(std::min(parameters_.size(), name.size() + 1));
    return name;
  }

  template <class T>
  using Of = std::type_identity<T>;
  template <std::integral Number>
  Number take(Of<Number>) {
    return static_cast<Number>(request().numbers(numbers_++));
  }
  void* take(Of<void*>) { return reinterpret_cast<void*>(take(Of<uint64_t>())); }
  eph_computation* take(Of<eph_computation*>) {
    return computation_of(take(Of<uint64_t>())).handle;
  }
  eph_string take(Of<eph_string>) { return text_of(request().texts(texts_++)); }
  eph_bytes take(Of<eph_bytes>) {
    const auto size = take(Of<uint64_t>());
    if (size == 0) return {no_bytes(), 0};
    const auto bytes = shared_bytes(request().data().shared(), size);
    note(bytes.status());
    return bytes.ok() ? eph_bytes{bytes->data(), size} : eph_bytes{};
  }
  const eph_device* take(Of<const eph_device*>) {
    return storage().keep(read(request().device(), storage()));
  }
  template <class Record>
  const Record* take(Of<const Record*>) {
    return read_all<Record>(RecordField<Record>::of(request()), storage());
  }
  const eph_run_config* take(Of<const eph_run_config*>) {
    eph_run_config config = {};
    config.struct_size = sizeof(config);
    config.run_id = take(Of<uint64_t>());
    config.tag = take(Of<eph_string>());
    config.deadline_ns = take(Of<uint64_t>());
    config.options = take(Of<const eph_option*>());
    config.option_count = static_cast<uint64_t>(request().options_size());
    return storage().keep(config);
  }

  void put(int32_t number) { out_.add_numbers(static_cast<uint64_t>(number)); }
  void put(void* address) { out_.add_numbers(reinterpret_cast<uint64_t>(address)); }
  void put(eph_string text) { out_.add_texts(copy(text)); }
  void put(const eph_provider_info& info) {
    const auto adopted = plugin::adopt<eph_provider_info>(&info, site_);
    note(adopted.status());
    if (adopted.ok()) out_.add_numbers(adopted->max_concurrent);
  }
  void put(const eph_memory_usage& usage) {
    const auto adopted = plugin::adopt<eph_memory_usage>(&usage, site_);
    note(adopted.status());
    if (!adopted.ok()) return;
    for (const uint64_t bytes : {adopted->total_bytes, adopted->free_bytes, adopted->kept_bytes}) {
      out_.add_numbers(bytes);
    }
  }
  template <class Record>
  void put_all(const Record* records, uint64_t stride, uint64_t count) {
    const auto list = plugin::adopt_records(records, stride, count, kMaxEntries, site_);
    if (!list.ok()) return note(list.status());
    for (const auto& record : *list) write(record.copy, *RecordField<Record>::of(out_).Add());
  }
  template <class Record>
  void put_all(const Record* records, uint64_t count, std::string_view array) {
    const auto list = plugin::adopt_array(records, count, kMaxEntries, site_, array);
    if (!list.ok()) return note(list.status());
    for (const Record& record : *list) {
      if constexpr (requires { record.rules; }) {
        note(plugin::check_array(record.rules, record.rule_count, kMaxEntries, site_, "rules"));
        if (!status_.ok()) return;
      }
      write(record, *RecordField<Record>::of(out_).Add());
    }
  }

 private:
  [[nodiscard]] const wire::Request& request() const { return call_.request(); }
  [[nodiscard]] Storage& storage() { return call_.storage(); }
  void note(const Status& status) {
    if (status_.ok()) status_ = status;
  }

  CallState& call_;
  wire::Answer& out_;
  const plugin::CallSite site_;
  std::string_view parameters_;
  Status status_;
  int numbers_ = 0;  // that were taken
  int texts_ = 0;    // likewise
};

// One argument, for the time of the call. `get` is what the plugin gets; `finish`, where there is
// one, puts what the plugin made of it into the answer, and sees the arguments after it.
template <class T>
struct Argument {
  Argument(ServedArguments& from, std::string_view) : value(from.take(std::type_identity<T>())) {}
  T get() { return value; }
  T value;
};
template <>
struct Argument<const eph_host*> {
  Argument(ServedArguments& from, std::string_view) : host(std::string(from.site().provider), {}) {}
  const eph_host* get() { return &host; }
  ServedHost host;
};
template <>
struct Argument<const eph_graph*> {
  Argument(ServedArguments& from, std::string_view)
      : graph(from.call(), from.call().request().graph()) {}
  const eph_graph* get() { return &graph; }
  ServedGraph graph;
};
template <class Result>
requires kIsResult<Result*>
struct Argument<Result*> {
  Argument(ServedArguments&, std::string_view) {
    if constexpr (requires { value.struct_size; }) value.struct_size = sizeof(value);
  }
  Result* get() { return &value; }
  void finish(ServedArguments& to, auto&...) { to.put(value); }
  Result value = {};
};
// An array, and its length.
template <>
struct Argument<uint64_t*> {
  Argument(ServedArguments&, std::string_view) {}
  uint64_t* get() { return &value; }
  uint64_t value = 0;
};
template <class Record>
struct Argument<const Record**> {
  Argument(ServedArguments&, std::string_view parameter) : name(parameter) {}
  const Record** get() { return &records; }
  void finish(ServedArguments& to, Argument<uint64_t*>& count, auto&...) {
    to.put_all(records, count.value, name);
  }
  void finish(ServedArguments& to, Argument<uint64_t*>& stride, Argument<uint64_t*>& count,
              auto&...) {
    to.put_all(records, stride.value, count.value);
  }
  std::string_view name;
  const Record* records = nullptr;
};

// Lists.
template <class List, class Collector>
struct ListArgument {
  ListArgument(ServedArguments& from, std::string_view) : list(from.site().provider, from.out()) {}
  List* get() { return &list; }
  Collector list;
};
template <>
struct Argument<eph_device_list*>
    : ListArgument<eph_device_list, RecordCollector<eph_device_list, eph_device>> {
  using ListArgument::ListArgument;
};
template <>
struct Argument<eph_event_list*>
    : ListArgument<eph_event_list, RecordCollector<eph_event_list, eph_event>> {
  using ListArgument::ListArgument;
};
template <>
struct Argument<eph_name_list*> : ListArgument<eph_name_list, NameCollector> {
  using ListArgument::ListArgument;
};
template <>
struct Argument<eph_shape_wishes*> : ListArgument<eph_shape_wishes, WishCollector> {
  using ListArgument::ListArgument;
};

template <auto Member, class Type = decltype(Member)>
struct SlotCall;
template <auto Member, class R, class Table, class SelfType, class... A>
struct SlotCall<Member, R (*Table::*)(SelfType*, A...) noexcept> {
  using Self = SelfType;

  static void answer(const Table& table, Self* self, ServedArguments& from) {
    add_arguments(Types<A...>(), table, self, from);
  }

 private:
  template <class...>
  struct Types {};

  // Makes the arguments one after the other, which stay on the stack for the call.
  template <class First, class... Rest, class... Made>
  static void add_arguments(Types<First, Rest...>, const Table& table, Self* self,
                            ServedArguments& from, Made&... made) {
    Argument<First> argument(from, from.next_parameter());
    add_arguments(Types<Rest...>(), table, self, from, made..., argument);
  }
  template <class... Made>
  static void add_arguments(Types<eph_error*>, const Table& table, Self* self,
                            ServedArguments& from, Made&... made) {
    if (!from.status().ok()) return fail(from.out(), from.status());
    if (!call_slot(from.site(), from.out(), table.*Member, self, made.get()...)) return;
    finish_all(from, made...);
    if (!from.status().ok()) fail(from.out(), from.status());
  }
  // One that releases something.
  template <class... Made>
  static void add_arguments(Types<>, const Table& table, Self* self, ServedArguments& from,
                            Made&... made) {
    plugin::call_release(from.site(), table.*Member, self, made.get()...);
  }

  static void finish_all(ServedArguments&) {}
  template <class First, class... Rest>
  static void finish_all(ServedArguments& to, First& first, Rest&... rest) {
    if constexpr (requires { first.finish(to, rest...); }) first.finish(to, rest...);
    finish_all(to, rest...);
  }
};

template <auto Member>
void ServedCalls::serve(const Call& call, wire::Answer& out) {
  using Table = plugin::TableOf<Member>;
  using Slot = SlotCall<Member>;
  constexpr const auto& kSlot = plugin::kSlot<Member>;
  const wire::Request& request = call->request();
  const auto arguments = [&](std::string_view kind, std::string_view subject) {
    return ServedArguments(*call, out, site(kSlot.name, kind, subject), kSlot.parameters);
  };
  if constexpr (std::is_same_v<Table, eph_computation_api>) {
    const ServedComputation& of = computation_of(request.computation());
    ServedArguments from = arguments(of.kind, of.name);
    Slot::answer(of.table, of.handle, from);
  } else {
    ServedArguments from = arguments({}, {});
    if constexpr (std::is_same_v<typename Slot::Self, const eph_provider_api>) {
      Slot::answer(api(), plugin_->provider_self, from);
    } else if constexpr (std::is_same_v<Table, eph_provider_api>) {
      Slot::answer(api(), provider_of(request).handle, from);
    } else if constexpr (std::is_same_v<Table, eph_device_api>) {
      Slot::answer(devices_, device_of(request.opened()).handle, from);
    } else {
      const ServedProvider& provider = provider_of(request);
      Slot::answer(provider.extension<Table>(), provider.handle, from);
    }
  }
}

}  // namespace ephost::worker
