#include "host/onnx_io/opsets/opset18_25_fields.h"

#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

namespace ephost::onnx_io {
namespace {

constexpr int kValueMetadata = 4;
constexpr int kNodeOverload = 8;
constexpr int kNodeMetadata = 9;
constexpr int kFunctionOverload = 13;
constexpr int kFunctionAttributeProto = 11;

// Calls `visit` with the content of each length-delimited field of that number.
template <class Message, class Visitor>
void for_each_unknown(const Message& message, int number, Visitor visit) {
  const google::protobuf::UnknownFieldSet& fields = message.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      visit(field.length_delimited());
    }
  }
}

// The messages in a repeated field that is unknown; those that do not parse are omitted.
template <class Entry, class Message>
std::vector<Entry> unknown_entries(const Message& message, int number) {
  std::vector<Entry> entries;
  for_each_unknown(message, number, [&](const std::string& content) {
    Entry entry;
    if (entry.ParseFromString(content)) entries.push_back(std::move(entry));
  });
  return entries;
}

// Each of these asks the generated class if it has the field.

template <class Message>
std::string find_overload(const Message& message, int number) {
  if constexpr (requires { message.overload(); }) {
    return message.overload();
  } else {
    std::string text;
    for_each_unknown(message, number, [&](const std::string& content) { text = content; });
    return text;
  }
}

template <class Message>
auto find_metadata(const Message& message, int number) {
  if constexpr (requires { message.metadata_props(); }) {
    return message.metadata_props();
  } else {
    return unknown_entries<onnx::StringStringEntryProto>(message, number);
  }
}

template <class Message>
auto find_attribute_defaults(const Message& message, int number) {
  if constexpr (requires { message.attribute_proto(); }) {
    return message.attribute_proto();
  } else {
    return unknown_entries<onnx::AttributeProto>(message, number);
  }
}

}  // namespace

std::string overload_of(const onnx::NodeProto& node) { return find_overload(node, kNodeOverload); }

std::string overload_of(const onnx::FunctionProto& function) {
  return find_overload(function, kFunctionOverload);
}

Metadata metadata_of(const onnx::NodeProto& node) {
  Metadata metadata;
  for (const onnx::StringStringEntryProto& entry : find_metadata(node, kNodeMetadata)) {
    metadata.emplace_back(entry.key(), entry.value());
  }
  return metadata;
}

bool is_inferred(const onnx::ValueInfoProto& value) {
  return std::ranges::any_of(find_metadata(value, kValueMetadata), [](const auto& entry) {
    return entry.key() == kTypeKey && entry.value() == kInferredType;
  });
}

std::vector<onnx::AttributeProto> attribute_defaults(const onnx::FunctionProto& function) {
  const auto found = find_attribute_defaults(function, kFunctionAttributeProto);
  return {found.begin(), found.end()};
}

}  // namespace ephost::onnx_io
