// Value, an input or output of a run: a tensor, which owns its memory or borrows the
// caller's, a sequence or map of values, or nothing.
#pragma once

#include <ephost/status.h>
#include <ephost/types/memory_info.h>
#include <ephost/types/value.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ephost {

namespace runtime {
struct ValueAccess;
}
struct SparseTensor;  // host/runtime/values/sparse_tensor.h

// Copies share the memory, and so do sequences and maps with what was put into them; an output that
// is not a tensor may share elements with inputs of its run. Concurrent reads are safe. Tensors of
// strings have their elements in `strings()` and no bytes.
class Value {
 public:
  // No tensor: element type undefined, no shape. What an optional output may be.
  Value() = default;

  // A tensor of its own memory, aligned to 64 bytes and zeroed. INVALID_ARGUMENT for a negative
  // extent, a size that overflows, or an undefined type; OUT_OF_MEMORY where memory runs out.
  static Result<Value> allocate(ElementType type, std::vector<int64_t> shape);

  // A tensor over the caller's memory, which must outlive it and hold exactly the shape's bytes
  // (INVALID_ARGUMENT otherwise).
  static Result<Value> borrow(ElementType type, std::vector<int64_t> shape,
                              std::span<std::byte> memory);
  // The same, except that `owner` keeps the memory.
  static Result<Value> share(ElementType type, std::vector<int64_t> shape,
                             std::span<std::byte> memory, std::shared_ptr<void> owner);

  // A tensor of strings; as many as the shape says.
  static Result<Value> of_strings(std::vector<int64_t> shape, std::vector<std::string> strings);

  // A copy of `elements`.
  template <class T>  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved
  static Result<Value> of(std::vector<int64_t> shape, std::span<const T> elements) {
    return copy(element_type_of<T>(), std::move(shape), std::as_bytes(elements));
  }

  // Elements of one kind and element type; INVALID_ARGUMENT otherwise. `type` is that of the
  // tensors in it, and matters only where there are none.
  static Result<Value> sequence(std::vector<Value> elements,
                                ElementType type = ElementType::kUndefined);

  // The keys are a tensor of rank 1, of strings or integers; the values are a tensor of rank 1 or a
  // sequence, as many as keys. INVALID_ARGUMENT otherwise.
  static Result<Value> map(Value keys, Value values);

  // A sparse tensor, checked as a whole: INVALID_ARGUMENT if it is not valid. A run takes it where
  // the model wants a tensor of its type and shape, sparse or dense. As ONNX Runtime's
  // CreateSparseTensor with FillSparseTensorCoo, ...Csr and ...BlockSparse.
  static Result<Value> of_sparse(SparseTensor sparse);
  // Null unless it is a sparse tensor.
  [[nodiscard]] const SparseTensor* sparse() const;
  // The dense form of a sparse tensor; any other value as it is. INVALID_ARGUMENT if it needs more
  // than `max_bytes`, OUT_OF_MEMORY where memory runs out.
  [[nodiscard]] Result<Value> to_dense(uint64_t max_bytes = uint64_t{1} << 30) const;

  [[nodiscard]] ValueKind kind() const { return kind_; }
  [[nodiscard]] bool has_value() const { return kind_ != ValueKind::kNone; }
  // The type of the elements of a tensor, dense or sparse, of those in a sequence, or of a map's
  // keys.
  [[nodiscard]] ElementType element_type() const { return type_; }
  // The shape of a tensor, dense or sparse; empty otherwise.
  [[nodiscard]] const std::vector<int64_t>& shape() const { return shape_; }
  // The elements of a sequence, or the keys and the values of a map. Empty for a tensor.
  [[nodiscard]] std::span<const Value> parts() const;
  // The elements of a dense tensor; 0 otherwise.
  [[nodiscard]] uint64_t element_count() const;
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::span<std::byte> mutable_bytes() { return bytes_; }
  [[nodiscard]] const std::vector<std::string>& strings() const;
  // Which memory the value lies in, or would if it had elements.
  [[nodiscard]] MemoryInfo memory_info() const { return MemoryInfo::cpu(); }

  // The elements; empty unless T is the element type.
  template <class T>
  [[nodiscard]] std::span<const T> elements() const {
    if (element_type_of<T>() != type_ || kind_ != ValueKind::kTensor) return {};
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::span<T> mutable_elements() {
    if (element_type_of<T>() != type_ || kind_ != ValueKind::kTensor) return {};
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  friend struct runtime::ValueAccess;
  static Result<Value> copy(ElementType type, std::vector<int64_t> shape,
                            std::span<const std::byte> bytes);

  ValueKind kind_ = ValueKind::kNone;
  ElementType type_ = ElementType::kUndefined;
  std::vector<int64_t> shape_;
  std::span<std::byte> bytes_;
  std::shared_ptr<void> owner_;  // the memory, strings, parts or sparse tensor; null if borrowed
};

// A value with the name of the graph input or output it is for.
struct NamedValue {
  std::string name;
  Value value;
};

}  // namespace ephost
