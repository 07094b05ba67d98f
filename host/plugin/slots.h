// The functions of every table of the ABI that has slots, each once, in the order of the headers,
// with what the headers say of them. Whatever the host does for each slot or for each optional
// interface (adopting tables, layers, workers, checks) is made from this list; grep for the name of
// a slot finds its line here, and beside it only what is done for that slot alone. A table whose
// functions are not all listed does not compile.
#pragma once

#include <ephost/ext/constants.h>
#include <ephost/ext/device.h>
#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/operators.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/progress.h>
#include <ephost/ext/run.h>
#include <ephost/ext/shapes.h>
#include <ephost/ext/shared_contexts.h>
#include <ephost/ext/thread_pool.h>
#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace ephost::plugin {

// The marks of the headers: whether a table must have the function, and who may call it at the same
// time ([owner]: one thread at a time for each handle).
enum class SlotNeed { kRequired, kOptional };
enum class SlotThreads { kOwner, kAny };

// One function of a table: its member pointer, as a type.
template <auto Member>
struct Slot {
  std::string_view name;
  size_t offset;  // in the table
  SlotNeed need;
  SlotThreads threads;
  // Their names, but for the handle and the error. `shape[rank]` is an array that anything may
  // read during the call, with as many elements, or bytes, as the argument `rank` says.
  std::string_view parameters;
};

// Specialised for each table: kTable, its name in the headers, kId, that of the optional interface
// that it is, and kSlots, a tuple of Slot.
template <class Table>
struct TableSlots;

inline constexpr std::string_view kNoExtension;

// A table is its struct_size, `Other` bytes of what is not a function, and one pointer for each
// slot.
template <class Table, size_t Other = 0>
consteval bool lists_all_slots() {
  size_t end = sizeof(uint64_t) + Other;
  const auto follows = [&](const auto& slot) {
    const bool is_next = slot.offset == end;
    end += sizeof(void (*)());
    return is_next;
  };
  const auto all = [&](const auto&... slots) { return (follows(slots) && ...); };
  return std::apply(all, TableSlots<Table>::kSlots) && sizeof(Table) == end;
}

#define S(slot, need, threads, parameters)                                         \
  Slot<&Table::slot> {                                                             \
#slot, offsetof(Table, slot), SlotNeed::need, SlotThreads::threads, parameters \
  }
#define EPHOST_SLOTS(table, id, other, ...)                 \
  template <>                                               \
  struct TableSlots<table> {                                \
    using Table = table;                                    \
    static constexpr std::string_view kTable = #table;      \
    static constexpr std::string_view kId = id;             \
    static constexpr auto kSlots = std::tuple(__VA_ARGS__); \
  };                                                        \
  static_assert(lists_all_slots<table, other>(), #table " has other functions");

// clang-format off
// The slots of a provider.
EPHOST_SLOTS(eph_provider_api, kNoExtension, 3 * sizeof(eph_string),
  S(get_devices, kRequired, kAny, "host list"),
  S(create, kRequired, kAny, "host config out_provider"),
  S(destroy, kRequired, kAny, ""),
  S(get_capability, kOptional, kOwner, "graph claims"),
  S(get_kernels, kOptional, kOwner, "out_kernels out_count"),
  S(create_kernel, kOptional, kOwner, "graph node out_computation"),
  S(compile, kOptional, kOwner, "partitions[count] stride count out_computations"),
  S(get_ep_context_nodes, kOptional, kOwner, "computations count writer"),
  S(get_compatibility, kOptional, kOwner, "out_text"),
  S(validate, kOptional, kAny, "host device text out_verdict"),
  S(list_targets, kOptional, kAny, "host list"),
  S(describe, kOptional, kOwner, "out"),
  S(get_provider_extension, kOptional, kAny, "id"),
  S(get_extension, kOptional, kAny, "id"))
EPHOST_SLOTS(eph_computation_api, kNoExtension, 0,
  S(destroy, kRequired, kOwner, ""),
  S(compute, kRequired, kOwner, "state run"),
  S(describe, kOptional, kOwner, "out"),
  S(create_state, kOptional, kAny, "out_state"),
  S(release_state, kOptional, kOwner, "state"))
EPHOST_SLOTS(eph_shared_contexts_api, EPH_EXT_SHARED_CONTEXTS, 0,
  S(list_partitions, kRequired, kOwner, "payload list"))
EPHOST_SLOTS(eph_device_api, EPH_EXT_DEVICE, 0,
  S(open, kRequired, kAny, "host device out_device"),
  S(close, kRequired, kAny, ""),
  S(get_status, kOptional, kAny, ""),
  S(get_memories, kRequired, kAny, "out_memories out_stride out_count"),
  S(allocate, kRequired, kAny, "memory size out_data"),
  S(release, kRequired, kAny, "memory data"),
  S(trim, kOptional, kAny, "memory"),
  S(get_usage, kOptional, kAny, "memory out"),
  S(copy, kRequired, kAny, "copies stride count"),
  S(create_stream, kOptional, kAny, "config out_stream"),
  S(destroy_stream, kOptional, kOwner, "stream"),
  S(enqueue_copies, kOptional, kOwner, "stream copies stride count step"),
  S(record, kOptional, kOwner, "stream out_point"),
  S(wait, kOptional, kOwner, "stream other point"),
  S(query, kOptional, kAny, "stream out_reached"),
  S(wait_host, kOptional, kAny, "stream point timeout_ns out_step"),
  S(notify, kOptional, kAny, "stream point done context"),
  S(begin_capture, kOptional, kOwner, "stream"),
  S(end_capture, kOptional, kOwner, "stream out_capture"),
  S(launch, kOptional, kOwner, "stream capture step"),
  S(destroy_capture, kOptional, kAny, "capture"),
  S(abandon, kOptional, kAny, "stream"),
  S(import_memory, kOptional, kAny, "memory from out_data"),
  S(release_import, kOptional, kAny, "memory data"),
  S(export_memory, kOptional, kAny, "memory data kind out_handle out_offset"),
  S(wait_external, kOptional, kOwner, "stream fence"))
EPHOST_SLOTS(eph_run_provider_api, EPH_EXT_RUN, 0,
  S(begin_run, kOptional, kAny, "config"),
  S(end_run, kOptional, kAny, "run_id code"),
  S(set_options, kOptional, kOwner, "options[count] count"))
EPHOST_SLOTS(eph_profiling_api, EPH_EXT_PROFILING, 0,
  S(start, kRequired, kOwner, ""),
  S(stop, kRequired, kOwner, "list"))
EPHOST_SLOTS(eph_graph_wishes_api, EPH_EXT_GRAPH_WISHES, 0,
  S(get_kept_operators, kRequired, kOwner, "out_operators out_stride out_count"))
EPHOST_SLOTS(eph_shapes_provider_api, EPH_EXT_SHAPES, 0,
  S(set_profiles, kOptional, kOwner, "profiles[profile_count] stride profile_count"),
  S(get_wishes, kRequired, kOwner, "graph wishes"))

// The slots of the host.
EPHOST_SLOTS(eph_host_api, kNoExtension, 0,
  S(log, kRequired, kAny, "severity message"),
  S(get_extension, kRequired, kAny, "id"))
EPHOST_SLOTS(eph_graph_api, kNoExtension, 0,
  S(get_graph, kRequired, kAny, "out"),
  S(get_node, kRequired, kAny, "node out"),
  S(get_value, kRequired, kAny, "value out"),
  S(find_value, kRequired, kAny, "name out_value"),
  S(get_opset, kRequired, kAny, "domain"),
  S(get_onnx, kRequired, kAny, "outside_bytes out"))
EPHOST_SLOTS(eph_claims_api, kNoExtension, 0,
  S(claim_node, kRequired, kOwner, "node"),
  S(claim_fused, kRequired, kOwner, "claim"),
  S(has_kernel, kRequired, kOwner, "node"),
  S(decline, kRequired, kOwner, "node reason"))
EPHOST_SLOTS(eph_run_api, kNoExtension, 0,
  S(allocate_output, kRequired, kOwner, "index element_type shape[rank] rank"),
  S(set_string, kRequired, kOwner, "index element text"),
  S(allocate_scratch, kRequired, kOwner, "size"),
  S(is_cancelled, kRequired, kAny, ""),
  S(make_tensor, kRequired, kOwner, "element_type shape[rank] rank out_value"),
  S(set_element, kRequired, kOwner, "tensor element text"),
  S(make_sequence, kRequired, kOwner, "base position removed inserted inserted_count out_value"),
  S(make_map, kRequired, kOwner, "keys values out_value"),
  S(set_output, kRequired, kOwner, "index value"),
  S(allocate_in, kRequired, kOwner, "memory size out_data"))
EPHOST_SLOTS(eph_context_writer_api, kNoExtension, 0,
  S(begin_payload, kRequired, kOwner, "compatibility out_payload"),
  S(write, kRequired, kOwner, "payload data[size] size"),
  S(add_node, kRequired, kOwner, "node"))
EPHOST_SLOTS(eph_device_list_api, kNoExtension, 0,
  S(add, kRequired, kOwner, "device"))
EPHOST_SLOTS(eph_name_list_api, kNoExtension, 0,
  S(add, kRequired, kOwner, "name"))
EPHOST_SLOTS(eph_event_list_api, kNoExtension, 0,
  S(add, kRequired, kOwner, "event"))
EPHOST_SLOTS(eph_shape_wishes_api, kNoExtension, 0,
  S(add, kRequired, kOwner, "nodes[node_count] node_count symbols[symbol_count] symbol_count"))
EPHOST_SLOTS(eph_progress_api, EPH_EXT_PROGRESS, 0,
  S(report, kRequired, kAny, "fraction message"),
  S(is_cancelled, kRequired, kAny, ""))
EPHOST_SLOTS(eph_constants_api, EPH_EXT_CONSTANTS, 0,
  S(release, kRequired, kAny, "data size"))
EPHOST_SLOTS(eph_thread_pool_api, EPH_EXT_THREAD_POOL, 0,
  S(parallel_for, kRequired, kAny, "total grain function context"),
  S(get_thread_count, kRequired, kAny, ""),
  S(get_library_thread_count, kRequired, kAny, ""))
EPHOST_SLOTS(eph_inference_api, kNoExtension, 0,
  S(get_node, kRequired, kOwner, "out"),
  S(get_input, kRequired, kOwner, "input out"),
  S(set_output, kRequired, kOwner, "output element_type shape[rank] dim_names rank"))
// clang-format on
#undef EPHOST_SLOTS
#undef S

template <class... Tables>
struct TableList {
  template <template <class> class Wrapper>
  using TupleOf = std::tuple<Wrapper<Tables>...>;
  template <class... First>
  using After = TableList<First..., Tables...>;
  template <class Table>
  static constexpr bool kHas = (std::is_same_v<Table, Tables> || ...);

  // Calls `use.template operator()<Table>()` for each.
  template <class Use>
  static constexpr void for_each(Use use) {
    (use.template operator()<Tables>(), ...);
  }
  // The same for the one whose id this is, if there is one.
  template <class Use>
  static constexpr void find(std::string_view id, Use use) {
    const auto use_if_found = [&]<class Table>() {
      if (TableSlots<Table>::kId == id) use.template operator()<Table>();
    };
    for_each(use_if_found);
  }
};

// The optional interfaces that a provider may offer, in the order in which it is asked for them.
using ProviderExtensions =
    TableList<eph_shared_contexts_api, eph_graph_wishes_api, eph_run_provider_api,
              eph_shapes_provider_api, eph_profiling_api>;
// All tables that a provider has, its own, those of its computations and its devices first.
using ProviderTables =
    ProviderExtensions::After<eph_provider_api, eph_computation_api, eph_device_api>;
// Those that the host offers, and the tables of its objects.
using HostExtensions = TableList<eph_progress_api, eph_constants_api, eph_thread_pool_api>;
using HostObjectTables = TableList<eph_host_api, eph_graph_api, eph_claims_api, eph_run_api,
                                   eph_context_writer_api, eph_device_list_api, eph_name_list_api,
                                   eph_event_list_api, eph_shape_wishes_api, eph_inference_api>;

namespace detail {

template <class Member>
struct TableOf;
template <class Table, class Function>
struct TableOf<Function Table::*> {
  using type = Table;
};

}  // namespace detail

// The table that a slot belongs to.
template <auto Member>
using TableOf = typename detail::TableOf<decltype(Member)>::type;

// A slot as the ABI's headers have it.
template <auto Member>
inline constexpr Slot<Member> kSlot = std::get<Slot<Member>>(TableSlots<TableOf<Member>>::kSlots);

// Calls `use.template operator()<Member>()` for each slot of a table, in order.
template <class Table, class Use>
constexpr void for_each_slot(Use use) {
  const auto use_all = [&]<auto... Members>(const Slot<Members>&...) {
    (use.template operator()<Members>(), ...);
  };
  std::apply(use_all, TableSlots<Table>::kSlots);
}

// Whether the slot is a device's, and one of those from `First` to `Last` in its table.
template <auto Member, auto First, auto Last>
inline constexpr bool kIsBetween =
    std::is_same_v<TableOf<Member>, eph_device_api>&& kSlot<Member>.offset >=
    kSlot<First>.offset&& kSlot<Member>.offset <= kSlot<Last>.offset;

// Whether the slot is about the streams of a device, or about captures: a plugin has all of either
// or none.
template <auto Member>
inline constexpr bool kIsOfStreams =
    kIsBetween<Member, &eph_device_api::create_stream, &eph_device_api::notify>;
template <auto Member>
inline constexpr bool kIsOfCaptures =
    kIsBetween<Member, &eph_device_api::begin_capture, &eph_device_api::destroy_capture>;
// Whether it is about work that is enqueued, or about memory of others, which is for plugins in the
// host's process.
template <auto Member>
inline constexpr bool kIsOfThisProcess =
    kIsBetween<Member, &eph_device_api::create_stream, &eph_device_api::wait_external>;

template <auto Member, auto Other>
inline constexpr bool kIsSame = false;
template <auto Member>
inline constexpr bool kIsSame<Member, Member> = true;

}  // namespace ephost::plugin
