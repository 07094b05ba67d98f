#include "host/cli/value_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/file.h"
#include "host/base/text.h"
#include "host/cli/elements.h"
#include "host/cli/npy.h"
#include "host/graph/types.h"
#include "host/onnx_io/tensor_file.h"

namespace ephost::cli {
namespace {

enum class FileKind { kUnknown, kTensorProto, kNumpy, kRaw };

FileKind kind_of(const std::filesystem::path& path) {
  const std::string extension = ascii_lower(path.extension().native());
  if (extension == ".pb") return FileKind::kTensorProto;
  if (extension == ".npy") return FileKind::kNumpy;
  if (extension == ".raw" || extension == ".bin") return FileKind::kRaw;
  return FileKind::kUnknown;
}

Status unknown_extension(const std::filesystem::path& path) {
  return Status(StatusCode::kInvalidArgument,
                "the extension of " + quote(path.native()) +
                    " is no tensor format; use .pb, .npy, .raw or .bin");
}

Result<FileValue> read_tensor_proto(const std::filesystem::path& path) {
  EPHOST_ASSIGN_OR_RETURN(onnx_io::NamedTensor read, onnx_io::read_tensor_file(path));
  graph::Tensor& tensor = read.tensor;
  if (tensor.strings != nullptr) {
    EPHOST_ASSIGN_OR_RETURN(Value value,
                            Value::of_strings(std::move(tensor.shape), *tensor.strings));
    return FileValue{std::move(read.name), std::move(value)};
  }
  EPHOST_ASSIGN_OR_RETURN(Value value, Value::allocate(tensor.type, std::move(tensor.shape)));
  std::ranges::copy(tensor.data.bytes, value.mutable_bytes().begin());
  return FileValue{std::move(read.name), std::move(value)};
}

Result<FileValue> read_numpy(const std::filesystem::path& path) {
  EPHOST_ASSIGN_OR_RETURN(const std::string content, read_file(path));
  EPHOST_ASSIGN_OR_RETURN(Value value, decode_npy(content, path.native()));
  return FileValue{"", std::move(value)};
}

Result<FileValue> read_raw(const std::filesystem::path& path,
                           const std::optional<RawLayout>& layout) {
  if (!layout) {
    return Status(StatusCode::kInvalidArgument,
                  quote(path.native()) + " is raw, and its type and shape are not known; use .pb");
  }
  EPHOST_ASSIGN_OR_RETURN(Value value, Value::allocate(layout->type, layout->shape));
  EPHOST_ASSIGN_OR_RETURN(const std::string content, read_file(path));
  const auto bytes = value.mutable_bytes();
  if (content.size() != bytes.size() || layout->type == ElementType::kString) {
    return Status(StatusCode::kInvalidArgument,
                  quote(path.native()) + " has " + std::to_string(content.size()) + " bytes, and " +
                      type_text(value) + " needs " + std::to_string(bytes.size()) +
                      "; give a file of that size, or the right --shape");
  }
  if (!content.empty()) std::memcpy(bytes.data(), content.data(), content.size());
  return FileValue{"", std::move(value)};
}

Result<FileValue> read_by_kind(const std::filesystem::path& path,
                               const std::optional<RawLayout>& raw) {
  switch (kind_of(path)) {
    case FileKind::kTensorProto:
      return read_tensor_proto(path);
    case FileKind::kNumpy:
      return read_numpy(path);
    case FileKind::kRaw:
      return read_raw(path, raw);
    case FileKind::kUnknown:
      break;
  }
  return unknown_extension(path);
}

}  // namespace

bool is_value_file(const std::filesystem::path& path) {
  return kind_of(path) != FileKind::kUnknown;
}

bool is_raw_file(const std::filesystem::path& path) { return kind_of(path) == FileKind::kRaw; }

std::string_view default_extension(const Value& value) {
  return is_numpy_type(value.element_type()) ? ".npy" : ".pb";
}

Result<FileValue> read_value(const std::filesystem::path& path,
                             const std::optional<RawLayout>& raw) {
  EPHOST_ASSIGN_OR_RETURN(FileValue read, read_by_kind(path, raw));
  // A bool that is neither 0 nor 1 is undefined in C++.
  if (read.value.element_type() == ElementType::kBool) {
    for (std::byte& element : read.value.mutable_bytes()) {
      if (element != std::byte{0}) element = std::byte{1};
    }
  }
  return read;
}

Status write_value(const std::filesystem::path& path, std::string_view name, const Value& value) {
  switch (kind_of(path)) {
    case FileKind::kTensorProto: {
      graph::Tensor tensor{.type = value.element_type(), .shape = value.shape()};
      if (value.element_type() == ElementType::kString) {
        tensor.strings = std::make_shared<const std::vector<std::string>>(value.strings());
      } else {
        tensor.data.bytes = value.bytes();
      }
      return onnx_io::write_tensor_file(path, {std::string(name), std::move(tensor)});
    }
    case FileKind::kNumpy: {
      EPHOST_ASSIGN_OR_RETURN(const std::string content, encode_npy(value));
      return write_file_atomically(path, as_bytes(content));
    }
    case FileKind::kRaw:
      if (value.element_type() == ElementType::kString) {
        return Status(StatusCode::kInvalidArgument,
                      "strings have no raw form; write " + quote(name) + " as .pb");
      }
      return write_file_atomically(path, value.bytes());
    case FileKind::kUnknown:
      break;
  }
  return unknown_extension(path);
}

}  // namespace ephost::cli
