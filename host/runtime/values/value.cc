#include "host/runtime/values/value.h"

#include <cstring>
#include <utility>

#include "host/base/format.h"
#include "host/graph/types.h"
#include "host/runtime/values/composite.h"
#include "host/runtime/values/readable_inputs.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {

Result<Value> Value::allocate(ElementType type, std::vector<int64_t> shape) {
  EPHOST_ASSIGN_OR_RETURN(Value value, ValueAccess::allocate(type, std::move(shape)));
  if (!value.bytes_.empty()) std::memset(value.bytes_.data(), 0, value.bytes_.size());
  return value;
}

Result<Value> Value::borrow(ElementType type, std::vector<int64_t> shape,
                            std::span<std::byte> memory) {
  const auto size = graph::byte_size(type, shape);
  if (!size || *size != memory.size()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("a tensor of {} cannot borrow memory of {} bytes; pass exactly the "
                            "bytes of the shape (strings cannot be borrowed)",
                            describe_tensor(type, shape), memory.size()));
  }
  if (memory.data() == nullptr && !memory.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("a tensor of {} cannot borrow memory at a null address; pass that of "
                            "its first element",
                            describe_tensor(type, shape)));
  }
  Value value;
  value.kind_ = ValueKind::kTensor;
  value.type_ = type;
  value.shape_ = std::move(shape);
  value.bytes_ = memory;
  return value;
}

Result<Value> Value::share(ElementType type, std::vector<int64_t> shape,
                           std::span<std::byte> memory, std::shared_ptr<void> owner) {
  EPHOST_ASSIGN_OR_RETURN(Value value, borrow(type, std::move(shape), memory));
  value.owner_ = std::move(owner);
  return value;
}

Result<Value> Value::of_strings(std::vector<int64_t> shape, std::vector<std::string> strings) {
  const auto count = graph::element_count(shape);
  if (!count || *count != strings.size()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} strings do not fill {}; pass one for each element", strings.size(),
                            describe_tensor(ElementType::kString, shape)));
  }
  Value value;
  value.kind_ = ValueKind::kTensor;
  value.type_ = ElementType::kString;
  value.shape_ = std::move(shape);
  value.owner_ = std::make_shared<StringTensor>(std::move(strings));
  return value;
}

Result<Value> Value::sequence(std::vector<Value> elements, ElementType type) {
  for (Value& element : elements) {
    EPHOST_ASSIGN_OR_RETURN(element, aligned(element));
  }
  EPHOST_ASSIGN_OR_RETURN(Value value, splice({}, 0, 0, std::move(elements)));
  if (value.type_ == ElementType::kUndefined) value.type_ = type;
  return value;
}

Result<Value> Value::map(Value keys, Value values) {
  EPHOST_ASSIGN_OR_RETURN(keys, aligned(keys));
  EPHOST_ASSIGN_OR_RETURN(values, aligned(values));
  return ValueAccess::map(std::move(keys), std::move(values));
}

std::span<const Value> Value::parts() const {
  const Composite* composite = ValueAccess::composite(*this);
  return composite ? std::span<const Value>(composite->elements) : std::span<const Value>();
}

Result<Value> Value::copy(ElementType type, std::vector<int64_t> shape,
                          std::span<const std::byte> bytes) {
  EPHOST_ASSIGN_OR_RETURN(Value value, allocate(type, std::move(shape)));
  if (value.bytes_.size() != bytes.size()) {
    return Status(StatusCode::kInvalidArgument, formatted("a tensor of {} needs {} bytes, not {}",
                                                          describe_tensor(type, value.shape_),
                                                          value.bytes_.size(), bytes.size()));
  }
  if (!bytes.empty()) std::memcpy(value.bytes_.data(), bytes.data(), bytes.size());
  return value;
}

uint64_t Value::element_count() const {
  return kind_ == ValueKind::kTensor ? graph::element_count(shape_).value_or(0) : 0;
}

const std::vector<std::string>& Value::strings() const {
  static const std::vector<std::string> none;
  const StringTensor* text = ValueAccess::text(*this);
  return text ? text->strings() : none;
}

}  // namespace ephost::runtime
