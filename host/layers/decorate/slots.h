// The functions of every table that a layer stands between, in the order of the ABI's headers, with
// their names. A table whose functions are not all listed does not compile.
#pragma once

#include <ephost/ext/constants.h>
#include <ephost/ext/device_memory.h>
#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/progress.h>
#include <ephost/ext/run.h>
#include <ephost/ext/shapes.h>
#include <ephost/ext/shared_contexts.h>
#include <ephost/ext/thread_pool.h>
#include <ephost/plugin_abi.h>

#include <cstddef>
#include <string_view>
#include <tuple>

namespace ephost::layers {

// One function of a table: its member pointer, as a type.
template <auto Member>
struct Slot {
  std::string_view name;
  // Their names, but for the handle and the error. `shape[rank]` is an array that everybody may
  // read during the call, with as many elements, or bytes, as the argument `rank` says.
  std::string_view parameters;
};

// Specialised for each table: kTable, its name in the headers, and kSlots, a tuple of Slot.
template <class Table>
struct TableSlots;

// A table is its struct_size, `Other` bytes of what is not a function, and one pointer for each
// slot.
template <class Table, size_t Other = 0>
consteval bool lists_all_slots() {
  constexpr size_t kSlots = std::tuple_size_v<decltype(TableSlots<Table>::kSlots)>;
  return sizeof(Table) == sizeof(uint64_t) + Other + kSlots * sizeof(void (*)());
}

#define EPHOST_SLOT(table, name, parameters) \
  Slot<&table::name> { #name, parameters }
#define EPHOST_SLOTS(table, other, ...)                     \
  template <>                                               \
  struct TableSlots<table> {                                \
    static constexpr std::string_view kTable = #table;      \
    static constexpr auto kSlots = std::tuple(__VA_ARGS__); \
  };                                                        \
  static_assert(lists_all_slots<table, other>(), #table " has other functions");

// clang-format off
// Of the plugin.
#define S(name, parameters) EPHOST_SLOT(eph_provider_api, name, parameters)
EPHOST_SLOTS(eph_provider_api, 3 * sizeof(eph_string),
  S(get_devices, "host list"),
  S(create, "host config out_provider"),
  S(destroy, ""),
  S(get_capability, "graph claims"),
  S(get_kernels, "out_kernels out_count"),
  S(create_kernel, "graph node out_computation"),
  S(compile, "partitions[count] stride count out_computations"),
  S(get_ep_context_nodes, "computations count writer"),
  S(get_compatibility, "out_text"),
  S(validate, "host device text out_verdict"),
  S(list_targets, "host list"),
  S(describe, "out"),
  S(get_extension, "id"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_computation_api, name, parameters)
EPHOST_SLOTS(eph_computation_api, 0,
  S(destroy, ""),
  S(compute, "state run"),
  S(describe, "out"),
  S(create_state, "out_state"),
  S(release_state, "state"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_shared_contexts_api, name, parameters)
EPHOST_SLOTS(eph_shared_contexts_api, 0,
  S(list_partitions, "payload list"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_device_memory_api, name, parameters)
EPHOST_SLOTS(eph_device_memory_api, 0,
  S(get_memories, "out_memories out_count"),
  S(describe, "computation out"),
  S(allocate, "memory size out_data"),
  S(release, "memory data"),
  S(copy, "to_memory to from_memory from size"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_run_provider_api, name, parameters)
EPHOST_SLOTS(eph_run_provider_api, 0,
  S(begin_run, "config"),
  S(end_run, "run_id code"),
  S(set_options, "options[count] count"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_profiling_api, name, parameters)
EPHOST_SLOTS(eph_profiling_api, 0,
  S(start, ""),
  S(stop, "list"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_graph_wishes_api, name, parameters)
EPHOST_SLOTS(eph_graph_wishes_api, 0,
  S(get_kept_operators, "out_operators out_count"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_shapes_provider_api, name, parameters)
EPHOST_SLOTS(eph_shapes_provider_api, 0,
  S(set_profiles, "profiles[profile_count] profile_count"),
  S(get_wishes, "graph wishes"))
#undef S

// Of the host.
#define S(name, parameters) EPHOST_SLOT(eph_host_api, name, parameters)
EPHOST_SLOTS(eph_host_api, 0,
  S(log, "severity message"),
  S(get_extension, "id"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_graph_api, name, parameters)
EPHOST_SLOTS(eph_graph_api, 0,
  S(get_graph, "out"),
  S(get_node, "node out"),
  S(get_value, "value out"),
  S(find_value, "name out_value"),
  S(get_opset, "domain"),
  S(get_onnx, "outside_bytes out"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_claims_api, name, parameters)
EPHOST_SLOTS(eph_claims_api, 0,
  S(claim_node, "node"),
  S(claim_fused, "claim"),
  S(has_kernel, "node"),
  S(decline, "node reason"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_run_api, name, parameters)
EPHOST_SLOTS(eph_run_api, 0,
  S(allocate_output, "index element_type shape[rank] rank"),
  S(set_string, "index element text"),
  S(allocate_scratch, "size"),
  S(is_cancelled, ""),
  S(make_tensor, "element_type shape[rank] rank out_value"),
  S(set_element, "tensor element text"),
  S(make_sequence, "base position removed inserted inserted_count out_value"),
  S(make_map, "keys values out_value"),
  S(set_output, "index value"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_context_writer_api, name, parameters)
EPHOST_SLOTS(eph_context_writer_api, 0,
  S(begin_payload, "compatibility out_payload"),
  S(write, "payload data[size] size"),
  S(add_node, "node"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_device_list_api, name, parameters)
EPHOST_SLOTS(eph_device_list_api, 0,
  S(add, "device"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_name_list_api, name, parameters)
EPHOST_SLOTS(eph_name_list_api, 0,
  S(add, "name"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_event_list_api, name, parameters)
EPHOST_SLOTS(eph_event_list_api, 0,
  S(add, "event"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_shape_wishes_api, name, parameters)
EPHOST_SLOTS(eph_shape_wishes_api, 0,
  S(add, "nodes[node_count] node_count symbols[symbol_count] symbol_count"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_progress_api, name, parameters)
EPHOST_SLOTS(eph_progress_api, 0,
  S(report, "fraction message"),
  S(is_cancelled, ""))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_constants_api, name, parameters)
EPHOST_SLOTS(eph_constants_api, 0,
  S(release, "data size"))
#undef S
#define S(name, parameters) EPHOST_SLOT(eph_thread_pool_api, name, parameters)
EPHOST_SLOTS(eph_thread_pool_api, 0,
  S(parallel_for, "total grain function context"),
  S(get_thread_count, ""),
  S(get_library_thread_count, ""))
#undef S
// clang-format on
#undef EPHOST_SLOTS
#undef EPHOST_SLOT

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

template <auto Member, auto Other>
inline constexpr bool kIsSame = false;
template <auto Member>
inline constexpr bool kIsSame<Member, Member> = true;

}  // namespace ephost::layers
