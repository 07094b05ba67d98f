#include "host/onnx_io/import/tensor_import.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/files/mapped_pages.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/checks.h"

namespace ephost::onnx_io {
namespace {

using graph::Blob;
using graph::ElementType;
using graph::invalid_graph;
using graph::Shape;
using graph::Tensor;

Result<Shape> import_shape(const onnx::TensorProto& proto) {
  Shape shape(proto.dims().begin(), proto.dims().end());
  for (const int64_t dim : shape) {
    if (dim < 0) return invalid_graph(formatted("it has the negative dimension {}", dim));
  }
  return shape;
}

// Canonical bytes from a typed field whose entries are narrowed to Element.
template <class Element, class Field>
std::vector<std::byte> narrowed(const Field& field) {
  std::vector<std::byte> bytes(static_cast<size_t>(field.size()) * sizeof(Element));
  std::byte* out = bytes.data();
  for (const auto entry : field) {
    const auto element = static_cast<Element>(entry);
    std::memcpy(out, &element, sizeof(element));
    out += sizeof(element);
  }
  return bytes;
}

// onnx.proto defines which typed field holds which type.
std::vector<std::byte> typed_bytes(const onnx::TensorProto& proto, ElementType type) {
  switch (type) {
    case ElementType::kFloat:
    case ElementType::kComplex64:
      return narrowed<float>(proto.float_data());
    case ElementType::kDouble:
    case ElementType::kComplex128:
      return narrowed<double>(proto.double_data());
    case ElementType::kInt64:
      return narrowed<int64_t>(proto.int64_data());
    case ElementType::kUint32:
      return narrowed<uint32_t>(proto.uint64_data());
    case ElementType::kUint64:
      return narrowed<uint64_t>(proto.uint64_data());
    case ElementType::kInt32:
      return narrowed<int32_t>(proto.int32_data());
    default:
      // Narrow integers, bool, 16-bit and 8-bit floats as bit patterns; packed elements as bytes.
      return graph::element_bits(type) == 16 ? narrowed<uint16_t>(proto.int32_data())
                                             : narrowed<uint8_t>(proto.int32_data());
  }
}

bool has_typed_data(const onnx::TensorProto& proto) {
  return proto.float_data_size() > 0 || proto.int32_data_size() > 0 ||
         proto.string_data_size() > 0 || proto.int64_data_size() > 0 ||
         proto.double_data_size() > 0 || proto.uint64_data_size() > 0;
}

// A bool other than 0 and 1 is undefined behaviour in C++; every nonzero value is true.
Blob normalized_bools(Blob blob) {
  const auto is_true = [](std::byte byte) { return byte > std::byte{1}; };
  if (std::none_of(blob.bytes.begin(), blob.bytes.end(), is_true)) return blob;
  std::vector<std::byte> bytes(blob.bytes.begin(), blob.bytes.end());
  std::replace_if(bytes.begin(), bytes.end(), is_true, std::byte{1});
  return graph::make_blob(std::move(bytes));
}

Result<uint64_t> parse_number(const std::string& key, const std::string& text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end) {
    return invalid_graph(formatted("the {} of its external data is {}, which is not a byte count",
                                   key, quote(text)));
  }
  return number;
}

Result<ExternalReference> external_reference(const onnx::TensorProto& proto) {
  ExternalReference reference;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") {
      reference.location = entry.value();
    } else if (entry.key() == "offset") {
      EPHOST_ASSIGN_OR_RETURN(reference.offset, parse_number("offset", entry.value()));
    } else if (entry.key() == "length") {
      EPHOST_ASSIGN_OR_RETURN(reference.length, parse_number("length", entry.value()));
    } else if (entry.key() == "checksum") {
      reference.checksum = entry.value();
    }
  }
  if (reference.location.empty()) return invalid_graph("its external data has no location");
  return reference;
}

Result<Tensor> string_tensor(const onnx::TensorProto& proto, Shape shape) {
  if (proto.has_raw_data() || proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return invalid_graph("strings cannot be raw or external data");
  }
  const std::optional<uint64_t> expected = graph::element_count(shape);
  const auto found = static_cast<uint64_t>(proto.string_data_size());
  if (!expected || *expected != found) {
    return invalid_graph(formatted("its shape needs {} strings, but it has {}",
                                   expected ? std::to_string(*expected) : "too many", found));
  }
  auto strings = std::make_shared<const std::vector<std::string>>(proto.string_data().begin(),
                                                                  proto.string_data().end());
  return Tensor{
      .type = ElementType::kString, .shape = std::move(shape), .strings = std::move(strings)};
}

Status size_mismatch(uint64_t expected, uint64_t found) {
  return invalid_graph(
      formatted("its type and shape need {} bytes, but it has {}", expected, found));
}

}  // namespace

std::optional<Blob> TensorImporter::lifted(std::string_view content) const {
  const auto payload = skeleton_.resolve(content);
  if (!payload) return std::nullopt;
  return Blob{.bytes = *payload, .owner = model_owner_};
}

// Returns the bytes of raw or external data, one of which the tensor has.
Status TensorImporter::read_payload(const onnx::TensorProto& proto, uint64_t needed,
                                    Tensor& out_tensor) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    if (proto.has_raw_data() || has_typed_data(proto)) {
      return invalid_graph("it has data inside the model and external data");
    }
    EPHOST_ASSIGN_OR_RETURN(const ExternalReference reference, external_reference(proto));
    EPHOST_ASSIGN_OR_RETURN(out_tensor.data, external_.find(reference, needed));
    out_tensor.external = external_.locate(reference, needed);
    return Status::ok_status();
  }
  if (has_typed_data(proto)) return invalid_graph("it has both raw data and typed data");
  const std::string& raw = proto.raw_data();
  if (std::optional<Blob> payload = lifted(raw)) {
    out_tensor.data = *std::move(payload);
    return Status::ok_status();
  }
  std::vector<std::byte> bytes(raw.size());
  if (!raw.empty()) std::memcpy(bytes.data(), raw.data(), raw.size());
  out_tensor.data = graph::make_blob(std::move(bytes));
  return Status::ok_status();
}

Result<Tensor> TensorImporter::tensor(const onnx::TensorProto& proto, const std::string& what) {
  Result<Tensor> tensor = unaligned_tensor(proto, what);
  if (tensor.ok()) align_data(*tensor);
  return tensor;
}

Result<Tensor> TensorImporter::unaligned_tensor(const onnx::TensorProto& proto,
                                                const std::string& what) {
  const auto import = [&]() -> Result<Tensor> {
    const auto type = static_cast<ElementType>(proto.data_type());
    if (proto.has_segment()) return invalid_graph("segments are not supported; store it whole");
    EPHOST_ASSIGN_OR_RETURN(Shape shape, import_shape(proto));
    if (type == ElementType::kString) return string_tensor(proto, std::move(shape));
    if (graph::element_bits(type) == 0) {
      return invalid_graph(
          formatted("its element type is {}, which does not exist", proto.data_type()));
    }
    const std::optional<uint64_t> needed = graph::byte_size(type, shape);
    if (!needed) return invalid_graph("its shape has too many elements");
    const bool is_raw =
        proto.has_raw_data() || proto.data_location() == onnx::TensorProto::EXTERNAL;
    Tensor tensor{.type = type, .shape = std::move(shape)};
    if (is_raw) {
      EPHOST_RETURN_IF_ERROR(read_payload(proto, *needed, tensor));
    } else {
      tensor.data = graph::make_blob(typed_bytes(proto, type));
    }
    Blob& data = tensor.data;
    if (data.bytes.size() != *needed) return size_mismatch(*needed, data.bytes.size());
    if (type == ElementType::kBool) data = normalized_bools(std::move(data));
    return tensor;
  };
  Result<Tensor> result = import();
  if (result.ok()) return result;
  const Status& status = result.status();
  return Status(status.code(), what + ": " + status.message());
}

Result<graph::SparseTensor> TensorImporter::sparse_tensor(const onnx::SparseTensorProto& proto,
                                                          const std::string& what) {
  graph::SparseTensor sparse;
  EPHOST_ASSIGN_OR_RETURN(sparse.values, tensor(proto.values(), "values of " + what));
  EPHOST_ASSIGN_OR_RETURN(sparse.indices, tensor(proto.indices(), "indices of " + what));
  sparse.shape.assign(proto.dims().begin(), proto.dims().end());
  const Shape& indices = sparse.indices.shape;
  const bool linear = indices.size() == 1;
  const bool by_axis =
      indices.size() == 2 && indices[1] == static_cast<int64_t>(sparse.shape.size());
  const bool matches = sparse.indices.type == ElementType::kInt64 && (linear || by_axis) &&
                       sparse.values.shape.size() == 1 && sparse.values.shape[0] == indices[0];
  if (!matches) return invalid_graph(what + ": its indices do not match its values and shape");
  if (!graph::element_count(sparse.shape)) return invalid_graph(what + ": its shape is invalid");
  return sparse;
}

void align_data(Tensor& tensor) {
  const std::span<const std::byte> bytes = tensor.data.bytes;
  if (graph::is_aligned(bytes.data(), tensor.type)) return;
  const Blob unaligned = std::exchange(tensor.data, graph::make_blob({bytes.begin(), bytes.end()}));
  release_pages(unaligned.bytes);
}

}  // namespace ephost::onnx_io
