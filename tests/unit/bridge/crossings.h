// Crossings of the ABI: for each record and table a sound one, and the way from a plugin to the
// host, through the code that the host uses. A type without a specialisation of Crossing has no
// fixture.
#pragma once

#include <ephost/ext/layer.h>
#include <ephost/ext/operators.h>
#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <string_view>

#include "host/plugin/record_layout.h"
#include "host/plugin/slots.h"
#include "tests/unit/bridge/crossing_plugin.h"

namespace ephost::bridge::testing {

enum class Way {
  kNone,            // no fixture
  kFromPlugin,      // a record or table that must be there
  kOffered,         // a table that may be null: then the extension is not offered
  kFilledByPlugin,  // the host's own record, as the plugin leaves it
  kFilledByHost,    // the plugin's own record
  kArray,           // frozen records in an array of the plugin
  kFromHost,        // a plugin only reads it
  kHandle,          // starts with its table, which has a crossing of its own
  kElsewhere,       // has tests of its own, named at the specialisation
};

inline constexpr std::string_view kProvider = "CrossingExecutionProvider";

template <class Record>
struct Crossing {
  static constexpr Way kWay = Way::kNone;
};

template <class Record>
requires(
    requires(Record record) { record.api; } &&
    !requires(Record record) { record.struct_size; }) struct Crossing<Record> {
  static constexpr Way kWay = Way::kHandle;
};

// The optional interfaces of a provider, all handed over in the same way; the host's own tables.
template <class Table>
requires plugin::ProviderExtensions::kHas<Table>
struct Crossing<Table> {
  static constexpr Way kWay = Way::kOffered;
  static constexpr std::string_view kSlot = "get_provider_extension";
  static Table sound() { return sound_table<Table>(); }
  static Status hand_over(const void* given) {
    handed = {.extension = {plugin::TableSlots<Table>::kId, given}};
    return create_provider().status();
  }
};
template <class Table>
requires(plugin::HostObjectTables::kHas<Table> ||
         plugin::HostExtensions::kHas<Table>) struct Crossing<Table> {
  static constexpr Way kWay = Way::kFromHost;
};

// `slot` is what the refusal must name; empty where the host has no way to say anything.
#define EPHOST_CROSSING(record, way, slot)          \
  template <>                                       \
  struct Crossing<record> {                         \
    static constexpr Way kWay = Way::way;           \
    static constexpr std::string_view kSlot = slot; \
    static record sound();                          \
    static Status hand_over(const void* given);     \
  };
#define EPHOST_ARRAY_CROSSING(record, slot)                         \
  template <>                                                       \
  struct Crossing<record> {                                         \
    static constexpr Way kWay = Way::kArray;                        \
    static constexpr std::string_view kSlot = slot;                 \
    static Status hand_over(const record* entries, uint64_t count); \
  };
#define EPHOST_NO_CROSSING(record, way)   \
  template <>                             \
  struct Crossing<record> {               \
    static constexpr Way kWay = Way::way; \
  };

EPHOST_CROSSING(eph_plugin_preamble, kFromPlugin, "eph_plugin_v1")
EPHOST_CROSSING(eph_plugin_api, kFromPlugin, "get_api")
EPHOST_CROSSING(eph_provider_api, kFromPlugin, "get_api")
EPHOST_CROSSING(eph_computation_api, kFromPlugin, "create_kernel")
EPHOST_CROSSING(eph_layer_api, kFromPlugin, "get_extension")
EPHOST_CROSSING(eph_error_api, kFromPlugin, "")
EPHOST_CROSSING(eph_device, kFromPlugin, "add")
EPHOST_CROSSING(eph_fused_claim, kFromPlugin, "claim_fused")
EPHOST_CROSSING(eph_context_node, kFromPlugin, "add_node")
EPHOST_CROSSING(eph_event, kFromPlugin, "add")
EPHOST_CROSSING(eph_provider_info, kFilledByPlugin, "describe")
EPHOST_CROSSING(eph_device_api, kOffered, "get_extension")
EPHOST_CROSSING(eph_memory_info, kFromPlugin, "get_memories")
EPHOST_CROSSING(eph_memory_usage, kFilledByPlugin, "get_usage")
EPHOST_CROSSING(eph_kept_operator, kFromPlugin, "get_kept_operators")
EPHOST_CROSSING(eph_operators_api, kOffered, "get_extension")
EPHOST_CROSSING(eph_operator_def, kFromPlugin, "get_operators")
EPHOST_CROSSING(eph_computation_info, kFilledByPlugin, "describe")
EPHOST_CROSSING(eph_graph_info, kFilledByHost, "")
EPHOST_CROSSING(eph_node_info, kFilledByHost, "")
EPHOST_CROSSING(eph_value_info, kFilledByHost, "")

EPHOST_ARRAY_CROSSING(eph_key_value, "add")
EPHOST_ARRAY_CROSSING(eph_kernel_def, "get_kernels")
EPHOST_ARRAY_CROSSING(eph_type_rule, "get_kernels")
EPHOST_ARRAY_CROSSING(eph_parameter, "get_operators")
EPHOST_ARRAY_CROSSING(eph_attribute_def, "get_operators")
EPHOST_ARRAY_CROSSING(eph_slot_memory, "describe")
EPHOST_ARRAY_CROSSING(eph_slot_pair, "describe")
EPHOST_ARRAY_CROSSING(eph_slot_part, "describe")

EPHOST_NO_CROSSING(eph_run, kFromHost)
EPHOST_NO_CROSSING(eph_layer_config, kFromHost)
EPHOST_NO_CROSSING(eph_provider_config, kFromHost)
EPHOST_NO_CROSSING(eph_load_info, kFromHost)
EPHOST_NO_CROSSING(eph_option, kFromHost)
EPHOST_NO_CROSSING(eph_copy, kFromHost)
EPHOST_NO_CROSSING(eph_external, kFromHost)
EPHOST_NO_CROSSING(eph_stream_config, kFromHost)
EPHOST_NO_CROSSING(eph_run_config, kFromHost)
EPHOST_NO_CROSSING(eph_shape_profile, kFromHost)
EPHOST_NO_CROSSING(eph_extent_range, kFromHost)
EPHOST_NO_CROSSING(eph_value_range, kFromHost)
EPHOST_NO_CROSSING(eph_partition, kFromHost)
EPHOST_NO_CROSSING(eph_ep_context, kFromHost)
EPHOST_NO_CROSSING(eph_attribute, kFromHost)
EPHOST_NO_CROSSING(eph_bytes, kFromHost)
EPHOST_NO_CROSSING(eph_type, kFromHost)
EPHOST_NO_CROSSING(eph_opset, kFromHost)
EPHOST_NO_CROSSING(eph_named_value, kFromHost)
EPHOST_NO_CROSSING(eph_string, kElsewhere)  // AbiText
EPHOST_NO_CROSSING(eph_value, kElsewhere)   // Objects, of the runtime

#undef EPHOST_CROSSING
#undef EPHOST_ARRAY_CROSSING
#undef EPHOST_NO_CROSSING

}  // namespace ephost::bridge::testing
