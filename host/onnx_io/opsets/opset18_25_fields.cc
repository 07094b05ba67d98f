#include "host/onnx_io/opsets/opset18_25_fields.h"

#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <utility>

namespace ephost::onnx_io {
namespace {

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

template <class Message>
std::string last_text(const Message& message, int number) {
  std::string text;
  for_each_unknown(message, number, [&](const std::string& content) { text = content; });
  return text;
}

}  // namespace

std::string overload_of(const onnx::NodeProto& node) { return last_text(node, kNodeOverload); }

std::string overload_of(const onnx::FunctionProto& function) {
  return last_text(function, kFunctionOverload);
}

Metadata metadata_of(const onnx::NodeProto& node) {
  Metadata metadata;
  for_each_unknown(node, kNodeMetadata, [&](const std::string& content) {
    onnx::StringStringEntryProto entry;
    if (entry.ParseFromString(content)) metadata.emplace_back(entry.key(), entry.value());
  });
  return metadata;
}

std::vector<onnx::AttributeProto> attribute_defaults(const onnx::FunctionProto& function) {
  std::vector<onnx::AttributeProto> defaults;
  for_each_unknown(function, kFunctionAttributeProto, [&](const std::string& content) {
    onnx::AttributeProto attribute;
    if (attribute.ParseFromString(content)) defaults.push_back(std::move(attribute));
  });
  return defaults;
}

}  // namespace ephost::onnx_io
