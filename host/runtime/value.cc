#include <ephost/value.h>

#include <cstring>
#include <utility>

#include "host/graph/types.h"
#include "host/runtime/tensor_memory.h"

namespace ephost {

Result<Value> Value::allocate(ElementType type, std::vector<int64_t> shape) {
  if (type == ElementType::kString) {
    const auto count = graph::element_count(shape);
    if (!count) return runtime::tensor_bytes(type, shape).status();
    return of_strings(std::move(shape), std::vector<std::string>(*count));
  }
  EPHOST_ASSIGN_OR_RETURN(const uint64_t size, runtime::tensor_bytes(type, shape));
  runtime::AlignedMemory memory = runtime::allocate_aligned(size);
  if (memory == nullptr) {
    return Status(StatusCode::kFail, "out of memory: a tensor of " +
                                         runtime::describe_tensor(type, shape) + " needs " +
                                         std::to_string(size) + " bytes");
  }
  std::memset(memory.get(), 0, size);
  Value value;
  value.type_ = type;
  value.shape_ = std::move(shape);
  value.bytes_ = {memory.get(), static_cast<size_t>(size)};
  value.owner_ = std::shared_ptr<void>(memory.release(), [](void* owned) {
    runtime::AlignedFree()(static_cast<std::byte*>(owned));
  });
  return value;
}

Result<Value> Value::borrow(ElementType type, std::vector<int64_t> shape,
                            std::span<std::byte> memory) {
  const auto size = graph::byte_size(type, shape);
  if (!size || *size != memory.size()) {
    return Status(StatusCode::kInvalidArgument,
                  "a tensor of " + runtime::describe_tensor(type, shape) +
                      " cannot borrow memory of " + std::to_string(memory.size()) +
                      " bytes; pass exactly the bytes of the shape (strings cannot be borrowed)");
  }
  Value value;
  value.type_ = type;
  value.shape_ = std::move(shape);
  value.bytes_ = memory;
  return value;
}

Result<Value> Value::of_strings(std::vector<int64_t> shape, std::vector<std::string> strings) {
  const auto count = graph::element_count(shape);
  if (!count || *count != strings.size()) {
    return Status(StatusCode::kInvalidArgument,
                  std::to_string(strings.size()) + " strings do not fill " +
                      runtime::describe_tensor(ElementType::kString, shape) +
                      "; pass one for each element");
  }
  Value value;
  value.type_ = ElementType::kString;
  value.shape_ = std::move(shape);
  value.owner_ = std::make_shared<std::vector<std::string>>(std::move(strings));
  return value;
}

Result<Value> Value::copy(ElementType type, std::vector<int64_t> shape,
                          std::span<const std::byte> bytes) {
  EPHOST_ASSIGN_OR_RETURN(Value value, allocate(type, std::move(shape)));
  if (value.bytes_.size() != bytes.size()) {
    return Status(StatusCode::kInvalidArgument,
                  "a tensor of " + runtime::describe_tensor(type, value.shape_) + " needs " +
                      std::to_string(value.bytes_.size()) + " bytes, not " +
                      std::to_string(bytes.size()));
  }
  if (!bytes.empty()) std::memcpy(value.bytes_.data(), bytes.data(), bytes.size());
  return value;
}

uint64_t Value::element_count() const {
  return has_value() ? graph::element_count(shape_).value_or(0) : 0;
}

const std::vector<std::string>& Value::strings() const {
  static const std::vector<std::string> none;
  if (type_ != ElementType::kString) return none;
  return *static_cast<const std::vector<std::string>*>(owner_.get());
}

}  // namespace ephost
