// Values as runs take and return them, behind the handles of the public API.
#pragma once

#include <ephost/status.h>
#include <ephost/types/value.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ephost::bridge {
struct DeviceMemory;  // host/bridge/extensions/device.h
}  // namespace ephost::bridge

namespace ephost::runtime {

struct SparseTensor;  // host/runtime/values/sparse_tensor.h
struct ValueAccess;

// The class of that name in <ephost/value.h> has the contracts of the functions that are in both.
// Nothing here crosses the API, so that a value is its members, and copies share what they own.
class Value {
 public:
  Value() = default;

  static Result<Value> allocate(ElementType type, std::vector<int64_t> shape);
  static Result<Value> borrow(ElementType type, std::vector<int64_t> shape,
                              std::span<std::byte> memory);
  static Result<Value> share(ElementType type, std::vector<int64_t> shape,
                             std::span<std::byte> memory, std::shared_ptr<void> owner);
  static Result<Value> of_strings(std::vector<int64_t> shape, std::vector<std::string> strings);

  template <class T>  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
  static Result<Value> of(std::vector<int64_t> shape, std::span<const T> elements) {
    return copy(element_type_of<T>(), std::move(shape), std::as_bytes(elements));
  }

  static Result<Value> sequence(std::vector<Value> elements,
                                ElementType type = ElementType::kUndefined);
  static Result<Value> map(Value keys, Value values);
  static Result<Value> of_sparse(SparseTensor sparse);
  // Null unless it is a sparse tensor.
  [[nodiscard]] const SparseTensor* sparse() const;
  [[nodiscard]] Result<Value> to_dense(uint64_t max_bytes = uint64_t{1} << 30) const;

  [[nodiscard]] ValueKind kind() const { return kind_; }
  [[nodiscard]] bool has_value() const { return kind_ != ValueKind::kNone; }
  [[nodiscard]] ElementType element_type() const { return type_; }
  [[nodiscard]] const std::vector<int64_t>& shape() const { return shape_; }
  [[nodiscard]] std::span<const Value> parts() const;
  [[nodiscard]] uint64_t element_count() const;
  // Empty for a tensor in the memory of a device.
  [[nodiscard]] std::span<const std::byte> bytes() const { return host_bytes(); }
  [[nodiscard]] std::span<std::byte> mutable_bytes() { return host_bytes(); }
  [[nodiscard]] const std::vector<std::string>& strings() const;
  // The memory of a device in which the tensor lies (device_value.h), null for the host's.
  [[nodiscard]] const bridge::DeviceMemory* memory() const { return memory_.get(); }
  // Where a tensor lies, in whichever memory that is.
  [[nodiscard]] std::span<std::byte> extent() const { return bytes_; }

  template <class T>
  [[nodiscard]] std::span<const T> elements() const {
    if (element_type_of<T>() != type_ || kind_ != ValueKind::kTensor) return {};
    return {reinterpret_cast<const T*>(host_bytes().data()), host_bytes().size() / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::span<T> mutable_elements() {
    if (element_type_of<T>() != type_ || kind_ != ValueKind::kTensor) return {};
    return {reinterpret_cast<T*>(host_bytes().data()), host_bytes().size() / sizeof(T)};
  }

 private:
  friend struct ValueAccess;
  static Result<Value> copy(ElementType type, std::vector<int64_t> shape,
                            std::span<const std::byte> bytes);
  [[nodiscard]] std::span<std::byte> host_bytes() const {
    return memory_ == nullptr ? bytes_ : std::span<std::byte>();
  }

  ValueKind kind_ = ValueKind::kNone;
  ElementType type_ = ElementType::kUndefined;
  std::vector<int64_t> shape_;
  std::span<std::byte> bytes_;
  std::shared_ptr<void> owner_;  // the memory, strings, parts or sparse tensor; null if borrowed
  std::shared_ptr<const bridge::DeviceMemory> memory_;  // null: the host's
};

struct NamedValue {
  std::string name;
  Value value;
};

}  // namespace ephost::runtime
