#include "host/onnx_io/import/onnx_value_file.h"

#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/onnx_io/import/external_data.h"
#include "host/onnx_io/import/tensor_import.h"
#include "host/onnx_io/wire/lift_payloads.h"

namespace ephost::onnx_io {
namespace {

using graph::ElementType;
using graph::ValueKind;

// The protobuf limit for the size of one message.
constexpr uint64_t kMaxMessage = std::numeric_limits<int32_t>::max();

// Reading.

class Reader {
 public:
  explicit Reader(TensorImporter& tensors, std::string what)
      : tensors_(tensors), what_(std::move(what)) {}

  Result<ValueData> read(const onnx::TensorProto& proto) const {
    ValueData value{.name = proto.name()};
    EPHOST_ASSIGN_OR_RETURN(value.tensor, tensors_.tensor(proto, "the tensor in " + what_));
    return value;
  }

  Result<ValueData> read(const onnx::SequenceProto& proto) const {
    ValueData value{.name = proto.name(), .kind = ValueKind::kSequence};
    switch (proto.elem_type()) {
      case onnx::SequenceProto::TENSOR:
        return with_parts(std::move(value), proto.tensor_values());
      case onnx::SequenceProto::SEQUENCE:
        return with_parts(std::move(value), proto.sequence_values());
      case onnx::SequenceProto::MAP:
        return with_parts(std::move(value), proto.map_values());
      case onnx::SequenceProto::UNDEFINED:
        return value;
      default:
        return unsupported("a sequence of sparse tensors or optionals");
    }
  }

  Result<ValueData> read(const onnx::MapProto& proto) const {
    ValueData value{.name = proto.name(), .kind = ValueKind::kMap};
    ValueData keys;
    EPHOST_ASSIGN_OR_RETURN(keys.tensor, read_keys(proto));
    EPHOST_ASSIGN_OR_RETURN(ValueData values, read(proto.values()));
    if (keys.tensor.shape[0] != static_cast<int64_t>(values.parts.size())) {
      return Status(StatusCode::kInvalidGraph,
                    formatted("the map in {} has {} keys and {} values", what_,
                              keys.tensor.shape[0], values.parts.size()));
    }
    value.parts.push_back(std::move(keys));
    value.parts.push_back(std::move(values));
    return value;
  }

  Result<ValueData> read(const onnx::OptionalProto& proto) const {
    switch (proto.elem_type()) {
      case onnx::OptionalProto::TENSOR:
        return named(read(proto.tensor_value()), proto.name());
      case onnx::OptionalProto::SEQUENCE:
        return named(read(proto.sequence_value()), proto.name());
      case onnx::OptionalProto::MAP:
        return named(read(proto.map_value()), proto.name());
      case onnx::OptionalProto::UNDEFINED:
        return ValueData{.name = proto.name(), .kind = ValueKind::kUnknown};
      default:
        return unsupported("an optional of a sparse tensor or an optional");
    }
  }

 private:
  template <class Protos>
  Result<ValueData> with_parts(ValueData value, const Protos& protos) const {
    for (const auto& proto : protos) {
      EPHOST_ASSIGN_OR_RETURN(value.parts.emplace_back(), read(proto));
    }
    return value;
  }

  static Result<ValueData> named(Result<ValueData> value, const std::string& name) {
    if (value.ok()) value->name = name;
    return value;
  }

  Result<graph::Tensor> read_keys(const onnx::MapProto& proto) const {
    onnx::TensorProto keys;
    keys.set_data_type(proto.key_type());
    const bool is_text = proto.key_type() == onnx::TensorProto::STRING;
    keys.add_dims(is_text ? proto.string_keys_size() : proto.keys_size());
    if (is_text) {
      for (const std::string& key : proto.string_keys()) keys.add_string_data(key);
    } else if (proto.key_type() == onnx::TensorProto::INT64) {
      for (const int64_t key : proto.keys()) keys.add_int64_data(key);
    } else {
      for (const int64_t key : proto.keys()) keys.add_int32_data(static_cast<int32_t>(key));
    }
    return tensors_.tensor(keys, "the keys of the map in " + what_);
  }

  [[nodiscard]] Status unsupported(const std::string& what) const {
    return Status(StatusCode::kNotImplemented,
                  formatted("{} holds {}, which is not supported", what_, what));
  }

  TensorImporter& tensors_;
  std::string what_;
};

template <class Proto>
Result<ValueData> parse_value(const Reader& reader, const std::string& content,
                              const std::string& what, std::string_view message) {
  Proto proto;
  if (!proto.ParseFromArray(content.data(), static_cast<int>(content.size()))) {
    return Status(StatusCode::kInvalidProtobuf,
                  formatted("{} is not a {}; give a file of one ONNX value", what, message));
  }
  return reader.read(proto);
}

// Writing.

uint64_t payload_bytes(const ValueData& value) {
  uint64_t bytes = value.tensor.data.bytes.size();
  for (const ValueData& part : value.parts) bytes += payload_bytes(part);
  return bytes;
}

void write(const ValueData& value, onnx::TensorProto& proto) {
  proto.set_name(value.name);
  proto.set_data_type(static_cast<int32_t>(value.tensor.type));
  for (const int64_t dim : value.tensor.shape) proto.add_dims(dim);
  if (value.tensor.strings != nullptr) {
    for (const std::string& text : *value.tensor.strings) proto.add_string_data(text);
  } else {
    proto.set_raw_data(value.tensor.data.bytes.data(), value.tensor.data.bytes.size());
  }
}

void write(const ValueData& value, onnx::SequenceProto& proto);

void write(const ValueData& value, onnx::MapProto& proto) {
  proto.set_name(value.name);
  const graph::Tensor& keys = value.parts[0].tensor;
  proto.set_key_type(static_cast<int32_t>(keys.type));
  if (keys.strings != nullptr) {
    for (const std::string& key : *keys.strings) proto.add_string_keys(key);
  } else {
    const uint32_t bits = graph::element_bits(keys.type);
    for (size_t i = 0; i < keys.data.bytes.size() / (bits / 8); ++i) {
      uint64_t pattern = 0;
      std::memcpy(&pattern, keys.data.bytes.data() + i * (bits / 8), bits / 8);
      const bool is_signed = keys.type == ElementType::kInt8 || keys.type == ElementType::kInt16 ||
                             keys.type == ElementType::kInt32 || keys.type == ElementType::kInt64;
      const uint32_t unused = 64 - bits;
      proto.add_keys(is_signed ? static_cast<int64_t>(pattern << unused) >> unused
                               : static_cast<int64_t>(pattern));
    }
  }
  write(value.parts[1], *proto.mutable_values());
}

void write(const ValueData& value, onnx::SequenceProto& proto) {
  proto.set_name(value.name);
  proto.set_elem_type(onnx::SequenceProto::TENSOR);
  for (const ValueData& part : value.parts) {
    if (part.kind == ValueKind::kSequence) {
      proto.set_elem_type(onnx::SequenceProto::SEQUENCE);
      write(part, *proto.add_sequence_values());
    } else if (part.kind == ValueKind::kMap) {
      proto.set_elem_type(onnx::SequenceProto::MAP);
      write(part, *proto.add_map_values());
    } else {
      write(part, *proto.add_tensor_values());
    }
  }
}

void write(const ValueData& value, onnx::OptionalProto& proto) {
  proto.set_name(value.name);
  proto.set_elem_type(onnx::OptionalProto::UNDEFINED);
  if (value.kind == ValueKind::kTensor) {
    proto.set_elem_type(onnx::OptionalProto::TENSOR);
    write(value, *proto.mutable_tensor_value());
  } else if (value.kind == ValueKind::kSequence) {
    proto.set_elem_type(onnx::OptionalProto::SEQUENCE);
    write(value, *proto.mutable_sequence_value());
  } else if (value.kind == ValueKind::kMap) {
    proto.set_elem_type(onnx::OptionalProto::MAP);
    write(value, *proto.mutable_map_value());
  }
}

template <class Proto>
Status write_message(const std::filesystem::path& path, const ValueData& value) {
  Proto proto;
  const bool fits = payload_bytes(value) <= kMaxMessage;
  if (fits) write(value, proto);
  if (!fits || proto.ByteSizeLong() > kMaxMessage) {
    return Status(StatusCode::kFail, formatted("the value for {} is over 2 GiB, more than a .pb "
                                               "file can hold; write a tensor as .npy or .raw",
                                               quote(path.native())));
  }
  const std::string encoded = proto.SerializeAsString();
  return write_file_atomically(path, as_bytes(encoded));
}

}  // namespace

Result<ValueData> read_value_file(const std::filesystem::path& path, graph::ValueKind kind) {
  EPHOST_ASSIGN_OR_RETURN(const std::string content, read_file(path, kMaxMessage));
  const std::string what = quote(path.native());
  // Nothing was lifted out of the message, but the importer needs to know the source of payloads.
  EPHOST_ASSIGN_OR_RETURN(const Skeleton skeleton, lift_payloads({}));
  const std::map<std::string, graph::Blob> no_buffers;
  ExternalData external(path.parent_path(), no_buffers);
  TensorImporter tensors(skeleton, nullptr, external);
  const Reader reader(tensors, what);
  switch (kind) {
    case ValueKind::kSequence:
      return parse_value<onnx::SequenceProto>(reader, content, what, "SequenceProto");
    case ValueKind::kMap:
      return parse_value<onnx::MapProto>(reader, content, what, "MapProto");
    case ValueKind::kOptional:
      return parse_value<onnx::OptionalProto>(reader, content, what, "OptionalProto");
    default:
      return parse_value<onnx::TensorProto>(reader, content, what, "TensorProto");
  }
}

Status write_value_file(const std::filesystem::path& path, const ValueData& value,
                        bool is_optional) {
  if (is_optional) return write_message<onnx::OptionalProto>(path, value);
  if (value.kind == ValueKind::kSequence) return write_message<onnx::SequenceProto>(path, value);
  if (value.kind == ValueKind::kMap) return write_message<onnx::MapProto>(path, value);
  return write_message<onnx::TensorProto>(path, value);
}

}  // namespace ephost::onnx_io
