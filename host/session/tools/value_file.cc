#include "host/session/tools/value_file.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/onnx_io/import/onnx_value_file.h"
#include "host/runtime/values/device_value.h"
#include "host/session/environment/exception_barrier.h"

namespace ephost::session {
namespace {

graph::ValueKind stated_kind(const ValueForm& form) {
  if (form.is_optional) return graph::ValueKind::kOptional;
  if (form.kind == ValueKind::kSequence) return graph::ValueKind::kSequence;
  return form.kind == ValueKind::kMap ? graph::ValueKind::kMap : graph::ValueKind::kTensor;
}

Result<runtime::Value> to_value(onnx_io::ValueData data, ElementType element_type);

// The values of a map, as one tensor where each of them is one number: so that it is easy to read.
Result<runtime::Value> to_map_values(onnx_io::ValueData data) {
  std::vector<std::byte> bytes;
  const auto type = data.parts.empty() ? ElementType::kUndefined : data.parts[0].tensor.type;
  for (const onnx_io::ValueData& part : data.parts) {
    const graph::Tensor& tensor = part.tensor;
    const bool is_number = part.kind == graph::ValueKind::kTensor && tensor.type == type &&
                           graph::element_bits(type) >= 8 &&
                           tensor.data.bytes.size() == graph::element_bits(type) / 8;
    if (!is_number) return to_value(std::move(data), ElementType::kUndefined);
    bytes.insert(bytes.end(), tensor.data.bytes.begin(), tensor.data.bytes.end());
  }
  if (data.parts.empty()) return to_value(std::move(data), ElementType::kUndefined);
  EPHOST_ASSIGN_OR_RETURN(
      runtime::Value value,
      runtime::Value::allocate(type, {static_cast<int64_t>(data.parts.size())}));
  std::ranges::copy(bytes, value.mutable_bytes().begin());
  return value;
}

// A bool that is neither 0 nor 1 is undefined in C++.
void normalize_bools(runtime::Value& value) {
  if (value.element_type() != ElementType::kBool) return;
  for (std::byte& element : value.mutable_bytes()) {
    if (element != std::byte{0}) element = std::byte{1};
  }
}

Result<runtime::Value> to_tensor(graph::Tensor tensor) {
  if (tensor.strings != nullptr)
    return runtime::Value::of_strings(std::move(tensor.shape), *tensor.strings);
  EPHOST_ASSIGN_OR_RETURN(runtime::Value value,
                          runtime::Value::allocate(tensor.type, std::move(tensor.shape)));
  std::ranges::copy(tensor.data.bytes, value.mutable_bytes().begin());
  normalize_bools(value);
  return value;
}

Result<runtime::Value> to_value(onnx_io::ValueData data, ElementType element_type) {
  switch (data.kind) {
    case graph::ValueKind::kTensor:
      return to_tensor(std::move(data.tensor));
    case graph::ValueKind::kSequence: {
      std::vector<runtime::Value> elements;
      for (onnx_io::ValueData& part : data.parts) {
        EPHOST_ASSIGN_OR_RETURN(elements.emplace_back(),
                                to_value(std::move(part), ElementType::kUndefined));
      }
      return runtime::Value::sequence(std::move(elements), element_type);
    }
    case graph::ValueKind::kMap: {
      EPHOST_ASSIGN_OR_RETURN(runtime::Value keys, to_tensor(std::move(data.parts[0].tensor)));
      EPHOST_ASSIGN_OR_RETURN(runtime::Value values, to_map_values(std::move(data.parts[1])));
      return runtime::Value::map(std::move(keys), std::move(values));
    }
    default:
      return runtime::Value();
  }
}

onnx_io::ValueData tensor_data(ElementType type, std::vector<int64_t> shape,
                               std::span<const std::byte> bytes) {
  onnx_io::ValueData data;
  data.tensor = {.type = type, .shape = std::move(shape), .data = {.bytes = bytes}};
  return data;
}

// Borrows the bytes of the value.
onnx_io::ValueData to_data(const runtime::Value& value) {
  onnx_io::ValueData data;
  switch (value.kind()) {
    case ValueKind::kNone:
      data.kind = graph::ValueKind::kUnknown;
      return data;
    case ValueKind::kTensor:
      data = tensor_data(value.element_type(), value.shape(), value.bytes());
      if (value.element_type() == ElementType::kString) {
        data.tensor.strings = std::make_shared<const std::vector<std::string>>(value.strings());
      }
      return data;
    case ValueKind::kSequence:
      data.kind = graph::ValueKind::kSequence;
      for (const runtime::Value& part : value.parts()) data.parts.push_back(to_data(part));
      return data;
    case ValueKind::kSparseTensor:  // the caller has made it dense
    case ValueKind::kMap:
      break;
  }
  data.kind = graph::ValueKind::kMap;
  data.parts.push_back(to_data(value.parts()[0]));
  const runtime::Value& values = value.parts()[1];
  onnx_io::ValueData& list = data.parts.emplace_back(to_data(values));
  if (values.kind() != ValueKind::kTensor) return data;
  // A MapProto has a sequence of tensors with one element each.
  list = {.kind = graph::ValueKind::kSequence};
  const auto count = static_cast<size_t>(values.element_count());
  for (size_t i = 0; i < count; ++i) {
    const size_t size = values.bytes().size() / count;
    list.parts.push_back(
        tensor_data(values.element_type(), {}, values.bytes().subspan(i * size, size)));
    if (values.element_type() != ElementType::kString) continue;
    list.parts.back().tensor.strings =
        std::make_shared<const std::vector<std::string>>(1, values.strings()[i]);
  }
  return data;
}

}  // namespace

Result<runtime::NamedValue> read_value_file(const std::filesystem::path& path,
                                            const ValueForm& form) {
  return without_exceptions("reading a value", [&]() -> Result<runtime::NamedValue> {
    EPHOST_ASSIGN_OR_RETURN(onnx_io::ValueData data,
                            onnx_io::read_value_file(path, stated_kind(form)));
    std::string name = data.name;
    EPHOST_ASSIGN_OR_RETURN(runtime::Value value, to_value(std::move(data), form.element_type));
    return runtime::NamedValue{std::move(name), std::move(value)};
  });
}

Status write_value_file(const std::filesystem::path& path, const runtime::NamedValue& value,
                        bool is_optional) {
  return without_exceptions("writing a value", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const runtime::Value readable, runtime::to_host(value.value));
    EPHOST_ASSIGN_OR_RETURN(const runtime::Value dense, readable.to_dense());
    onnx_io::ValueData data = to_data(dense);
    data.name = value.name;
    return onnx_io::write_value_file(path, data, is_optional);
  });
}

}  // namespace ephost::session
