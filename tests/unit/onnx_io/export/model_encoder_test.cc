// Compares the model encoder with protobuf's descriptors: a field that is added to ONNX, or one
// that the encoder forgets or writes under a wrong number, shows here.
#include "host/onnx_io/export/model_encoder.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/onnx_io/export/export.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/onnx_io/export/rich_model.h"

namespace ephost::onnx_io::model_encoder_test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using test::IsOk;
using Fields = std::set<std::string>;

constexpr const char* kTypedData = "the encoder writes elements as raw_data";
constexpr const char* kNoDoc = "the graph keeps the documentation of models and graphs only";
constexpr const char* kNoDenotation = "no part of the host uses denotations";

// Fields of the descriptors that the encoder never writes, with the reason.
const std::map<std::string, std::string> kOmitted = {
    {"onnx.AttributeProto.doc_string", kNoDoc},
    {"onnx.GraphProto.sparse_initializer", "the importer converts sparse initializers to dense"},
    {"onnx.ModelProto.training_info", "the importer drops it, with a note"},
    {"onnx.NodeProto.doc_string", kNoDoc},
    {"onnx.TensorProto.doc_string", kNoDoc},
    {"onnx.TensorProto.double_data", kTypedData},
    {"onnx.TensorProto.float_data", kTypedData},
    {"onnx.TensorProto.int32_data", kTypedData},
    {"onnx.TensorProto.int64_data", kTypedData},
    {"onnx.TensorProto.segment", "the importer refuses segmented tensors"},
    {"onnx.TensorProto.uint64_data", kTypedData},
    {"onnx.TensorShapeProto.Dimension.denotation", kNoDenotation},
    {"onnx.TypeProto.denotation", kNoDenotation},
    {"onnx.TypeProto.opaque_type", "the graph has no opaque types"},
    {"onnx.ValueInfoProto.doc_string", kNoDoc},
};

constexpr const char* kElsewhere = "other tests of export cover it";
constexpr const char* kCopied = "the encoder copies functions as they came";
constexpr const char* kNoMetadata = "the graph keeps the metadata of models and nodes only";

// Fields that came after onnx 1.12, and that the rich model cannot have therefore.
const std::map<std::string, std::string> kNewer = {
    {"onnx.FunctionProto.attribute_proto", kCopied},
    {"onnx.FunctionProto.metadata_props", kCopied},
    {"onnx.FunctionProto.overload", kCopied},
    {"onnx.FunctionProto.value_info", kCopied},
    {"onnx.GraphProto.metadata_props", kNoMetadata},
    {"onnx.NodeProto.metadata_props", kElsewhere},
    {"onnx.NodeProto.overload", kElsewhere},
    {"onnx.TensorProto.metadata_props", kNoMetadata},
    {"onnx.ValueInfoProto.metadata_props", kElsewhere},
};

// Adds the fields of the message and of all messages that it leads to other than through kOmitted.
void add_fields(const Descriptor& message, Fields& fields) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const bool is_new = fields.insert(field.full_name()).second;
    if (!is_new || kOmitted.contains(field.full_name())) continue;
    if (field.message_type() != nullptr) add_fields(*field.message_type(), fields);
  }
}

Fields all_fields() {
  Fields fields;
  add_fields(*onnx::ModelProto::descriptor(), fields);
  return fields;
}

// Calls `visit` with the message and all messages in it.
template <class Visitor>
void for_each_message(const Message& message, const Visitor& visit) {
  visit(message);
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->message_type() == nullptr) continue;
    if (!field->is_repeated()) {
      for_each_message(reflection.GetMessage(message, field), visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      for_each_message(reflection.GetRepeatedMessage(message, field, i), visit);
    }
  }
}

// The encoded rich model, with its initializers embedded and in an external file.
std::vector<onnx::ModelProto> encoded_models() {
  std::vector<onnx::ModelProto> models;
  for (const char* external_file : {"", "weights"}) {
    ExportOptions options;
    options.external_file_name = external_file;
    const auto file = export_model(testing::rich_model(), options);
    EXPECT_THAT(file, IsOk());
    if (!file.ok()) continue;
    const std::vector<std::byte> bytes = file->model.to_bytes();
    EXPECT_TRUE(models.emplace_back().ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  }
  return models;
}

Fields written_fields() {
  Fields written;
  for (const onnx::ModelProto& model : encoded_models()) {
    for_each_message(model, [&](const Message& message) {
      std::vector<const FieldDescriptor*> fields;
      message.GetReflection()->ListFields(message, &fields);
      for (const FieldDescriptor* field : fields) written.insert(field->full_name());
    });
  }
  return written;
}

TEST(ModelEncoder, WritesEveryFieldOfTheDescriptorsThatIsNotListedAsOmitted) {
  const Fields written = written_fields();
  for (const std::string& field : all_fields()) {
    EXPECT_TRUE(written.contains(field) || kOmitted.contains(field) || kNewer.contains(field))
        << field << " is not written; encode it and set it in rich_model, or list it in kOmitted";
  }
}

TEST(ModelEncoder, WritesNoFieldThatIsListedAsOmitted) {
  const Fields written = written_fields();
  for (const auto& [field, reason] : kOmitted) {
    EXPECT_FALSE(written.contains(field)) << field << ", although " << reason;
  }
}

TEST(ModelEncoder, OmitsOnlyFieldsThatExist) {
  const Fields fields = all_fields();
  for (const auto& [field, reason] : kOmitted) EXPECT_TRUE(fields.contains(field)) << field;
}

TEST(ModelEncoder, WritesEveryFieldWithTheNumberAndTheWireTypeOfItsDescriptor) {
  for (const onnx::ModelProto& model : encoded_models()) {
    for_each_message(model, [](const Message& message) {
      EXPECT_TRUE(message.GetReflection()->GetUnknownFields(message).empty())
          << message.GetTypeName() << " has fields that protobuf does not recognize";
    });
  }
}

}  // namespace
}  // namespace ephost::onnx_io::model_encoder_test
