// The fields of every record and table that a plugin gives to the host or has the host fill, in the
// order of the ABI's headers, and which of them the host cannot do without. Those of a provider's
// tables follow from the list of slots. Read by adopt.h; a record without a layout here cannot be
// adopted.
#pragma once

#include <ephost/ext/layer.h>
#include <ephost/ext/operators.h>
#include <ephost/plugin_abi.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>

#include "host/plugin/slots.h"

namespace ephost::plugin {

enum class Need {
  kOptional,  // zero where the record ends before it
  kCovered,   // struct_size must cover it; its value may be anything
  kFunction,  // struct_size must cover it, and it must not be null
};

struct Field {
  std::string_view name;
  size_t begin = 0;  // in bytes, as `end`
  size_t end = 0;
  Need need = Need::kOptional;
};

// Specialised for each record: kName, for messages, and kFields, which cover it without a gap.
template <class Record>
struct RecordLayout;

template <class Record>
consteval bool is_covered_by(std::span<const Field> fields) {
  size_t end = 0;
  for (const Field& field : fields) {
    if (field.begin != end) return false;
    end = field.end;
  }
  return end == sizeof(Record);
}

#define EPHOST_FIELD(field, need)                                                                \
  Field {                                                                                        \
#field, offsetof(Record, field), offsetof(Record, field) + sizeof(Record::field), Need::need \
  }
#define OPTIONAL(field) EPHOST_FIELD(field, kOptional)
#define COVERED(field) EPHOST_FIELD(field, kCovered)
#define FUNCTION(field) EPHOST_FIELD(field, kFunction)
#define EPHOST_LAYOUT(type, name, ...)                                      \
  template <>                                                               \
  struct RecordLayout<type> {                                               \
    using Record = type;                                                    \
    static constexpr std::string_view kName = name;                         \
    static constexpr Field kFields[] = {COVERED(struct_size), __VA_ARGS__}; \
  };                                                                        \
  static_assert(is_covered_by<type>(RecordLayout<type>::kFields), name " has another layout");

// What negotiation reads of every provider of a library, also of one whose functions are missing:
// the first fields of eph_provider_api.
struct ProviderIdentity {
  uint64_t struct_size;
  eph_string type_name;
  eph_string name;
  eph_string vendor;
};
static_assert(offsetof(ProviderIdentity, vendor) == offsetof(eph_provider_api, vendor));

// The fields of a table before its slots.
template <class Table>
struct TableHead {
  using Record = Table;
  static constexpr std::array kFields = {COVERED(struct_size)};
};
template <>
struct TableHead<eph_provider_api> {
  using Record = eph_provider_api;
  static constexpr std::array kFields = {COVERED(struct_size), COVERED(type_name), COVERED(name),
                                         COVERED(vendor)};
};

template <class Table>
consteval auto table_fields() {
  const auto field = [](const auto& slot) {
    return Field{slot.name, slot.offset, slot.offset + sizeof(void (*)()),
                 slot.need == SlotNeed::kRequired ? Need::kFunction : Need::kOptional};
  };
  const auto join = [&](const auto&... head) {
    return std::apply(
        [&](const auto&... slots) {
          return std::array{head..., field(slots)...};
        },
        TableSlots<Table>::kSlots);
  };
  return std::apply(join, TableHead<Table>::kFields);
}

template <class Table>
requires(ProviderTables::kHas<Table>) struct RecordLayout<Table> {
  static constexpr std::string_view kName = TableSlots<Table>::kTable;
  static constexpr auto kFields = table_fields<Table>();
  static_assert(is_covered_by<Table>(kFields));
};

// clang-format off
EPHOST_LAYOUT(eph_plugin_preamble, "eph_plugin_preamble",
  COVERED(abi_minor_min), COVERED(abi_minor_max), COVERED(id), COVERED(version),
  COVERED(build_flags), COVERED(flags), FUNCTION(get_api))
EPHOST_LAYOUT(eph_plugin_api, "eph_plugin_api",
  COVERED(providers), COVERED(provider_count), OPTIONAL(get_extension))
EPHOST_LAYOUT(ProviderIdentity, "eph_provider_api",
  COVERED(type_name), COVERED(name), COVERED(vendor))
EPHOST_LAYOUT(eph_operators_api, "eph_operators_api", FUNCTION(get_operators))
EPHOST_LAYOUT(eph_layer_api, "eph_layer_api",
  COVERED(name), COVERED(vendor), FUNCTION(decorate), FUNCTION(release))
EPHOST_LAYOUT(eph_error_api, "eph_error_api", FUNCTION(set_message))

EPHOST_LAYOUT(eph_device, "eph_device",
  COVERED(id), OPTIONAL(name), OPTIONAL(vendor), OPTIONAL(architecture), OPTIONAL(driver_version),
  OPTIONAL(memory_bytes), OPTIONAL(type), OPTIONAL(flags), OPTIONAL(vendor_id),
  OPTIONAL(device_id), OPTIONAL(metadata), OPTIONAL(metadata_count))
EPHOST_LAYOUT(eph_memory_info, "eph_memory_info",
  COVERED(name), OPTIONAL(alignment), OPTIONAL(tail_padding), OPTIONAL(page_size),
  OPTIONAL(flags), OPTIONAL(reserved), OPTIONAL(domain), OPTIONAL(peers), OPTIONAL(imports), OPTIONAL(exports),
  OPTIONAL(dlpack_type), OPTIONAL(dlpack_id))
EPHOST_LAYOUT(eph_kept_operator, "eph_kept_operator",
  COVERED(op_type), COVERED(domain), COVERED(since_version), COVERED(until_version))
EPHOST_LAYOUT(eph_event, "eph_event",
  COVERED(name), COVERED(category), COVERED(track), COVERED(begin_ns), COVERED(duration_ns),
  COVERED(host_offset_ns), COVERED(clock), COVERED(reserved), OPTIONAL(run_id),
  OPTIONAL(arguments), OPTIONAL(argument_count))
EPHOST_LAYOUT(eph_fused_claim, "eph_fused_claim",
  COVERED(name), COVERED(nodes), COVERED(node_count), OPTIONAL(flags), OPTIONAL(reserved),
  OPTIONAL(token))
EPHOST_LAYOUT(eph_context_node, "eph_context_node",
  COVERED(computation), COVERED(payload), OPTIONAL(source), OPTIONAL(sdk_version),
  OPTIONAL(hardware_architecture), OPTIONAL(notes), OPTIONAL(max_size), OPTIONAL(constants),
  OPTIONAL(constant_count))
EPHOST_LAYOUT(eph_operator_def, "eph_operator_def",
  COVERED(op_type), COVERED(domain), COVERED(description), COVERED(since_version),
  COVERED(is_deprecated), COVERED(inputs), COVERED(input_count), COVERED(outputs),
  COVERED(output_count), COVERED(attributes), COVERED(attribute_count), OPTIONAL(infer))

// The host makes these and the plugin fills them.
EPHOST_LAYOUT(eph_provider_info, "eph_provider_info",
  OPTIONAL(max_concurrent), OPTIONAL(compute_streams))
EPHOST_LAYOUT(eph_memory_usage, "eph_memory_usage",
  OPTIONAL(total_bytes), OPTIONAL(free_bytes), OPTIONAL(kept_bytes))
EPHOST_LAYOUT(eph_computation_info, "eph_computation_info",
  OPTIONAL(workspace_bytes), OPTIONAL(host_alignment), OPTIONAL(may_inplace),
  OPTIONAL(may_inplace_count), OPTIONAL(aliases), OPTIONAL(alias_count), OPTIONAL(input_parts),
  OPTIONAL(input_part_count), OPTIONAL(output_parts), OPTIONAL(output_part_count),
  OPTIONAL(memory), OPTIONAL(flags), OPTIONAL(input_memories), OPTIONAL(input_memory_count),
  OPTIONAL(output_memories), OPTIONAL(output_memory_count), OPTIONAL(unread_inputs),
  OPTIONAL(unread_input_count), OPTIONAL(accepts), OPTIONAL(must_share),
  OPTIONAL(must_share_count))

// The plugin makes these and the host fills them.
EPHOST_LAYOUT(eph_graph_info, "eph_graph_info",
  OPTIONAL(name), OPTIONAL(node_count), OPTIONAL(value_count), OPTIONAL(inputs),
  OPTIONAL(input_count), OPTIONAL(outputs), OPTIONAL(output_count), OPTIONAL(flags),
  OPTIONAL(reserved), OPTIONAL(ir_version), OPTIONAL(opsets), OPTIONAL(opset_count),
  OPTIONAL(metadata), OPTIONAL(metadata_count))
EPHOST_LAYOUT(eph_node_info, "eph_node_info",
  OPTIONAL(name), OPTIONAL(op_type), OPTIONAL(domain), OPTIONAL(since_version), OPTIONAL(flags),
  OPTIONAL(inputs), OPTIONAL(input_count), OPTIONAL(outputs), OPTIONAL(output_count),
  OPTIONAL(implicit_inputs), OPTIONAL(implicit_input_count), OPTIONAL(attributes),
  OPTIONAL(attribute_count), OPTIONAL(overload), OPTIONAL(metadata), OPTIONAL(metadata_count))
EPHOST_LAYOUT(eph_value_info, "eph_value_info",
  OPTIONAL(name), OPTIONAL(kind), OPTIONAL(element_type), OPTIONAL(rank), OPTIONAL(flags),
  OPTIONAL(shape), OPTIONAL(dim_names), OPTIONAL(producer), OPTIONAL(reserved),
  OPTIONAL(consumers), OPTIONAL(consumer_count), OPTIONAL(constant), OPTIONAL(content))
// clang-format on

#undef EPHOST_LAYOUT
#undef FUNCTION
#undef COVERED
#undef OPTIONAL
#undef EPHOST_FIELD

}  // namespace ephost::plugin
