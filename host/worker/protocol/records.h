// Records of the plugin interface as messages, and back. What is read from a message lives as long
// as that message and its storage; a message that came from a worker cannot make a record that is
// not well-formed, and the code that checks the numbers of a plugin checks these.
#pragma once

#include <ephost/ext/device.h>
#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/operators.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/run.h>
#include <ephost/ext/shapes.h>
#include <ephost/plugin_abi.h>

#include <span>
#include <string>
#include <string_view>

#include "host/worker/protocol/messages.pb.h"
#include "host/worker/protocol/storage.h"

namespace ephost::worker {

[[nodiscard]] inline std::string_view view(eph_string text) {
  return text.data == nullptr ? std::string_view()
                              : std::string_view(text.data, static_cast<size_t>(text.size));
}
[[nodiscard]] inline std::string copy(eph_string text) { return std::string(view(text)); }
[[nodiscard]] inline eph_string text_of(const std::string& text) {
  return {text.data(), text.size()};
}

// Records of a plugin are adopted before (host/plugin/adopt.h), or frozen.
void write(const eph_device& device, wire::Device& out);
void write(const eph_option& option, wire::Option& out);
void write(const eph_kernel_def& kernel, wire::Kernel& out);
void write(const eph_computation_info& info, wire::ComputationInfo& out);
void write(const eph_context_node& node, wire::ContextNode& out);
void write(const eph_event& event, wire::Event& out);
void write(const eph_kept_operator& kept, wire::KeptOperator& out);
void write(const eph_memory_info& memory, wire::Memory& out);
void write(const eph_shape_profile& profile, wire::ShapeProfile& out);
void write(const eph_operator_def& definition, wire::Operator& out);
void write(const eph_key_value* pairs, uint64_t count,
           google::protobuf::RepeatedPtrField<wire::Pair>& out);

[[nodiscard]] eph_device read(const wire::Device& device, Storage& storage);
[[nodiscard]] eph_option read(const wire::Option& option, Storage& storage);
[[nodiscard]] eph_kernel_def read(const wire::Kernel& kernel, Storage& storage);
[[nodiscard]] eph_computation_info read(const wire::ComputationInfo& info, Storage& storage);
[[nodiscard]] eph_context_node read(const wire::ContextNode& node, Storage& storage);
[[nodiscard]] eph_event read(const wire::Event& event, Storage& storage);
[[nodiscard]] eph_kept_operator read(const wire::KeptOperator& kept, Storage& storage);
[[nodiscard]] eph_memory_info read(const wire::Memory& memory, Storage& storage);
[[nodiscard]] eph_shape_profile read(const wire::ShapeProfile& profile, Storage& storage);
[[nodiscard]] eph_operator_def read(const wire::Operator& definition, Storage& storage);
[[nodiscard]] const eph_key_value* read(const google::protobuf::RepeatedPtrField<wire::Pair>& pairs,
                                        Storage& storage);
[[nodiscard]] const eph_string* read(const google::protobuf::RepeatedPtrField<std::string>& texts,
                                     Storage& storage);

// Each entry of a repeated field as a record, in one array; null if there is none.
template <class Record, class Field, class Read>
[[nodiscard]] Record* read_all(const Field& field, Storage& storage, Read read_one) {
  Record* const records = storage.array<Record>(static_cast<size_t>(field.size()));
  for (int i = 0; i < field.size(); ++i) records[i] = read_one(field.Get(i));
  return records;
}

template <class Record, class Field>
[[nodiscard]] Record* read_all(const Field& field, Storage& storage) {
  return read_all<Record>(field, storage, [&](const auto& entry) { return read(entry, storage); });
}

// The field of a request or an answer that has an array of such records, or a list of them.
template <class Record>
struct RecordField;
#define EPHOST_RECORD_FIELD(record, message, name)                           \
  template <>                                                                \
  struct RecordField<record> {                                               \
    static const auto& of(const wire::message& from) { return from.name(); } \
    static auto& of(wire::message& in) { return *in.mutable_##name(); }      \
  };
EPHOST_RECORD_FIELD(eph_option, Request, options)
EPHOST_RECORD_FIELD(eph_shape_profile, Request, profiles)
EPHOST_RECORD_FIELD(eph_device, Answer, devices)
EPHOST_RECORD_FIELD(eph_event, Answer, events)
EPHOST_RECORD_FIELD(eph_kept_operator, Answer, kept)
EPHOST_RECORD_FIELD(eph_kernel_def, Answer, kernels)
EPHOST_RECORD_FIELD(eph_memory_info, Answer, memories)
#undef EPHOST_RECORD_FIELD

// Attributes of plain kinds; `write` leaves out the values of others. A kind that has no values
// where it needs some has one that is zero.
void write(const eph_attribute& attribute, wire::Attribute& out);
[[nodiscard]] eph_attribute read(const wire::Attribute& attribute, Storage& storage);

}  // namespace ephost::worker
