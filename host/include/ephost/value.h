// Value, an input or output of a run: a tensor, which owns its memory or borrows the
// caller's, a sequence or map of values, or nothing.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/owned.h>
#include <ephost/detail/records/session.h>
#include <ephost/float16.h>
#include <ephost/status.h>
#include <ephost/types/memory_info.h>
#include <ephost/types/value.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ephost {
namespace detail {

// Borrows the texts.
inline ephost_memory_info record_of(const MemoryInfo& memory) {
  auto record = sized<ephost_memory_info>();
  record.name = memory.name.c_str();
  record.device_type = memory.device_type.c_str();
  record.device_id = memory.device_id;
  record.memory_type = static_cast<int32_t>(memory.memory_type);
  record.dlpack_type = memory.dlpack_type;
  record.dlpack_id = memory.dlpack_id;
  return record;
}

inline ephost_external record_of(const External& external) {
  auto record = sized<ephost_external>();
  record.kind = static_cast<int32_t>(external.kind);
  record.handle = external.handle;
  record.offset = external.offset;
  record.size = external.size;
  return record;
}

}  // namespace detail

inline namespace v1 {

struct SparseTensor;

// Copies share the memory, and so do sequences and maps with what was put into them; an output that
// is not a tensor may share elements with inputs of its run. Concurrent reads are safe. Tensors of
// strings have their elements in `strings()` and no bytes.
class Value {
 public:
  // No tensor: element type undefined, no shape. What an optional output may be.
  Value() = default;
  Value(const Value& other) : handle_(detail::api().value->retain(other.handle_.get())) {}
  Value(Value&&) noexcept = default;
  Value& operator=(const Value& other) {
    if (this != &other) handle_.reset(detail::api().value->retain(other.handle_.get()));
    return *this;
  }
  Value& operator=(Value&&) noexcept = default;
  ~Value() = default;

  // A tensor of its own memory, aligned to 64 bytes and zeroed. INVALID_ARGUMENT for a negative
  // extent, a size that overflows, or an undefined type; OUT_OF_MEMORY where memory runs out.
  static Result<Value> allocate(ElementType type, std::span<const int64_t> shape) {
    return make([&](ephost_value** value) {
      return detail::api().value->create_tensor(static_cast<int32_t>(type), shape.data(),
                                                shape.size(), value);
    });
  }
  static Result<Value> allocate(ElementType type, std::initializer_list<int64_t> shape) {
    return allocate(type, Shape(shape.begin(), shape.size()));
  }

  // A tensor in that memory: of the host, as above, or of a device that the process has open, as
  // sessions have those of their providers. On a device the elements are undefined. Name the memory
  // as Session::memory_info_for_inputs does; its own name without the provider's will do if no
  // other provider has such a device, and no name stands for the device's first memory. Devices do
  // not hold strings. INVALID_ARGUMENT if no open device has the memory, or several have.
  static Result<Value> allocate(const MemoryInfo& memory, ElementType type,
                                std::span<const int64_t> shape) {
    const ephost_memory_info given = detail::record_of(memory);
    return make([&](ephost_value** value) {
      return detail::api().value->create_tensor_in(&given, static_cast<int32_t>(type), shape.data(),
                                                   shape.size(), value);
    });
  }
  static Result<Value> allocate(const MemoryInfo& memory, ElementType type,
                                std::initializer_list<int64_t> shape) {
    return allocate(memory, type, Shape(shape.begin(), shape.size()));
  }

  // A tensor in memory that others have made: what `from` names is in `memory` of an open device,
  // named as for `allocate`, and stays as long as `owner` does, which the tensor keeps. Runs read
  // and write it there. All work of others on it is done, or waited for by `wait_for`.
  // NOT_IMPLEMENTED if the device takes no such handles; INVALID_ARGUMENT if there are fewer bytes
  // than the shape needs.
  static Result<Value> import(const MemoryInfo& memory, const External& from, ElementType type,
                              std::span<const int64_t> shape, std::shared_ptr<const void> owner) {
    using Owner = std::shared_ptr<const void>;
    detail::Owned<Owner, detail::Delete> kept(new Owner(std::move(owner)));
    const ephost_memory_info given = detail::record_of(memory);
    const ephost_external external = detail::record_of(from);
    auto made = make([&](ephost_value** value) {
      return detail::api().value->import_tensor(
          &given, &external, static_cast<int32_t>(type), shape.data(), shape.size(),
          [](void* context) { delete static_cast<Owner*>(context); }, kept.get(), value);
    });
    if (made.ok()) static_cast<void>(kept.release());
    return made;
  }
  // What others call the memory of this tensor, which is in that of a device and stays there as
  // long as the tensor. A file descriptor is the caller's. NOT_IMPLEMENTED if the device gives no
  // such handles; INVALID_ARGUMENT for any other value.
  [[nodiscard]] Result<External> export_as(ExternalKind kind) const {
    auto record = detail::sized<ephost_external>();
    const Status status = detail::take_status(
        detail::api().value->export_tensor(handle(), static_cast<int32_t>(kind), &record));
    if (!status.ok()) return status;
    return External{kind, record.handle, record.offset, record.size};
  }
  // Returns when the device that has `memory` sees all that `fence` stands for as done: what others
  // have enqueued on a queue so far, or a sync file. NOT_IMPLEMENTED if it cannot wait for such.
  static Status wait_for(const MemoryInfo& memory, const External& fence) {
    const ephost_memory_info given = detail::record_of(memory);
    const ephost_external external = detail::record_of(fence);
    return detail::take_status(detail::api().value->wait_for(&given, &external));
  }

  // A tensor over the caller's memory, which must outlive it and hold exactly the shape's bytes
  // (INVALID_ARGUMENT otherwise).
  static Result<Value> borrow(ElementType type, std::span<const int64_t> shape,
                              std::span<std::byte> memory) {
    return make([&](ephost_value** value) {
      return detail::api().value->create_tensor_with_data(static_cast<int32_t>(type), shape.data(),
                                                          shape.size(), memory.data(),
                                                          memory.size(), nullptr, nullptr, value);
    });
  }
  static Result<Value> borrow(ElementType type, std::initializer_list<int64_t> shape,
                              std::span<std::byte> memory) {
    return borrow(type, Shape(shape.begin(), shape.size()), memory);
  }

  // The same, except that `owner` keeps the memory as long as the tensor needs it.
  static Result<Value> share(ElementType type, std::span<const int64_t> shape,
                             std::span<std::byte> memory, std::shared_ptr<const void> owner) {
    using Owner = std::shared_ptr<const void>;
    detail::Owned<Owner, detail::Delete> kept(new Owner(std::move(owner)));
    auto made = make([&](ephost_value** value) {
      return detail::api().value->create_tensor_with_data(
          static_cast<int32_t>(type), shape.data(), shape.size(), memory.data(), memory.size(),
          [](void* context) { delete static_cast<Owner*>(context); }, kept.get(), value);
    });
    if (made.ok()) static_cast<void>(kept.release());
    return made;
  }

  // A tensor of strings; as many as the shape says.
  static Result<Value> of_strings(std::span<const int64_t> shape,
                                  std::span<const std::string> strings) {
    const detail::SmallArray<ephost_string> views(strings, [](const std::string& text) {
      return ephost_string{text.data(), text.size()};
    });
    return make([&](ephost_value** value) {
      return detail::api().value->create_string_tensor(shape.data(), shape.size(), views.data(),
                                                       views.size(), value);
    });
  }
  static Result<Value> of_strings(std::initializer_list<int64_t> shape,
                                  std::span<const std::string> strings) {
    return of_strings(Shape(shape.begin(), shape.size()), strings);
  }
  static Result<Value> of_strings(std::initializer_list<int64_t> shape,
                                  std::initializer_list<std::string> strings) {
    return of_strings(shape, std::span<const std::string>(strings.begin(), strings.size()));
  }

  // A copy of `elements`.
  template <class T>
  static Result<Value> of(std::span<const int64_t> shape, std::span<const T> elements) {
    auto made = allocate(element_type_of<T>(), shape);
    if (!made.ok()) return made;
    const std::span<std::byte> bytes = made->mutable_bytes();
    if (bytes.size() != elements.size_bytes()) {
      return Status(StatusCode::kInvalidArgument,
                    "the tensor has " + std::to_string(made->element_count()) +
                        " elements, and was given " + std::to_string(elements.size()) +
                        "; give one for each element of the shape");
    }
    if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
    return made;
  }
  template <class T>
  static Result<Value> of(std::initializer_list<int64_t> shape, std::span<const T> elements) {
    return of<T>(Shape(shape.begin(), shape.size()), elements);
  }

  // Elements of one kind and element type; INVALID_ARGUMENT otherwise. `type` is that of the
  // tensors in it, and matters only where there are none.
  static Result<Value> sequence(std::span<const Value> elements,
                                ElementType type = ElementType::kUndefined) {
    const detail::SmallArray<const ephost_value*> parts(
        elements, [](const Value& element) { return element.handle(); });
    return make([&](ephost_value** value) {
      return detail::api().value->create_sequence(parts.data(), parts.size(),
                                                  static_cast<int32_t>(type), value);
    });
  }
  static Result<Value> sequence(std::initializer_list<Value> elements,
                                ElementType type = ElementType::kUndefined) {
    return sequence(std::span<const Value>(elements.begin(), elements.size()), type);
  }

  // The keys are a tensor of rank 1, of strings or integers; the values are a tensor of rank 1 or a
  // sequence, as many as keys. INVALID_ARGUMENT otherwise.
  static Result<Value> map(const Value& keys, const Value& values) {
    return make([&](ephost_value** value) {
      return detail::api().value->create_map(keys.handle(), values.handle(), value);
    });
  }

  // A sparse tensor, checked as a whole: INVALID_ARGUMENT if it is not valid. A run takes it where
  // the model wants a tensor of its type and shape, sparse or dense. As ONNX Runtime's
  // CreateSparseTensor with FillSparseTensorCoo, ...Csr and ...BlockSparse.
  static Result<Value> of_sparse(const SparseTensor& sparse);
  // The dense form of a sparse tensor; any other value as it is. INVALID_ARGUMENT if it needs more
  // than `max_bytes`, OUT_OF_MEMORY where memory runs out.
  [[nodiscard]] Result<Value> to_dense(uint64_t max_bytes = uint64_t{1} << 30) const {
    return make([&](ephost_value** value) {
      return detail::api().value->to_dense(handle(), max_bytes, value);
    });
  }

  [[nodiscard]] ValueKind kind() const { return static_cast<ValueKind>(info().kind); }
  [[nodiscard]] bool has_value() const { return kind() != ValueKind::kNone; }
  // The type of a tensor's elements, of those in a sequence, or of a map's keys.
  [[nodiscard]] ElementType element_type() const {
    return static_cast<ElementType>(info().element_type);
  }
  // The shape of a tensor; empty otherwise. Valid as long as the value.
  [[nodiscard]] std::span<const int64_t> shape() const {
    const ephost_value_info of = info();
    return {of.shape, of.rank};
  }
  // The elements of a sequence, or the keys and the values of a map. Empty for a tensor.
  [[nodiscard]] std::vector<Value> parts() const {
    std::vector<Value> parts(info().part_count);
    for (uint64_t i = 0; i < parts.size(); ++i) {
      ephost_value* part = nullptr;
      detail::expect_success(detail::api().value->get_part(handle(), i, &part));
      parts[i] = Value(part);
    }
    return parts;
  }
  // The elements of a tensor; 0 otherwise.
  [[nodiscard]] uint64_t element_count() const { return info().element_count; }
  // The size of a tensor of numbers, in whichever memory it lies; 0 otherwise.
  [[nodiscard]] uint64_t byte_size() const { return info().byte_size; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return memory(); }
  [[nodiscard]] std::span<std::byte> mutable_bytes() { return memory(); }
  // The elements of a tensor of strings; empty otherwise.
  [[nodiscard]] std::vector<std::string> strings() const {
    const ephost_value_info of = info();
    if (of.kind != EPHOST_KIND_TENSOR || of.element_type != EPHOST_ELEMENT_STRING) return {};
    detail::SmallArray<ephost_string> views(of.element_count);
    detail::expect_success(detail::api().value->get_strings(handle(), views.data(), views.size()));
    std::vector<std::string> strings;
    strings.reserve(views.size());
    for (size_t i = 0; i < views.size(); ++i) strings.emplace_back(views[i].data, views[i].size);
    return strings;
  }

  // Which memory the value lies in, or would if it had elements. One in the memory of a device
  // keeps the device open, may be used by any session that has the device, and has no `bytes`.
  [[nodiscard]] MemoryInfo memory_info() const {
    const ephost_memory_info* const memory = detail::api().value->memory_info(handle());
    if (memory == nullptr) throw std::bad_alloc();
    return detail::read_record<MemoryInfo>(*memory);
  }
  // What the plugin calls the address of the elements in the memory of its device; null for a value
  // in host memory.
  [[nodiscard]] void* device_data() const { return info().device_data; }

  // A copy in that memory, which is named as for `allocate`. Values other than tensors of numbers
  // are in host memory, and are shared.
  [[nodiscard]] Result<Value> copy_to(const MemoryInfo& memory) const {
    const ephost_memory_info given = detail::record_of(memory);
    return make([&](ephost_value** value) {
      return detail::api().value->copy_to(handle(), &given, value);
    });
  }
  // Copies all elements of a tensor of the same type and shape, which is INVALID_ARGUMENT
  // otherwise, from any memory. As ONNX Runtime's CopyTensors.
  [[nodiscard]] Status copy_from(const Value& from) {
    return detail::take_status(detail::api().value->copy_elements(from.handle(), handle_.get()));
  }

  // The elements; empty unless T is the element type.
  template <class T>
  [[nodiscard]] std::span<const T> elements() const {
    const std::span<std::byte> of = memory_of(element_type_of<T>());
    return {reinterpret_cast<const T*>(of.data()), of.size() / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::span<T> mutable_elements() {
    const std::span<std::byte> of = memory_of(element_type_of<T>());
    return {reinterpret_cast<T*>(of.data()), of.size() / sizeof(T)};
  }

  // Takes a handle of the C API.
  explicit Value(ephost_value* handle) : handle_(handle) {}
  // The handle, which belongs to this object. Never null.
  [[nodiscard]] const ephost_value* handle() const {
    return handle_.get() != nullptr ? handle_.get() : none();
  }

 private:
  using Shape = std::span<const int64_t>;
  struct Release {
    void operator()(ephost_value* value) const { detail::api().value->release(value); }
  };

  template <class Function>
  static Result<Value> make(const Function& function) {
    ephost_value* made = nullptr;
    EPHOST_RETURN_IF_ERROR(detail::take_status(function(&made)));
    return Value(made);
  }
  static const ephost_value* none() {
    static const Value value = [] {
      ephost_value* made = nullptr;
      detail::expect_success(detail::api().value->create_none(&made));
      return Value(made);
    }();
    return value.handle_.get();
  }
  [[nodiscard]] ephost_value_info info() const {
    auto info = detail::sized<ephost_value_info>();
    if (handle_.get() != nullptr) detail::api().value->get_info(handle_.get(), &info);
    return info;
  }
  [[nodiscard]] std::span<std::byte> memory() const {
    const ephost_value_info of = info();
    if (of.data == nullptr) return {};
    return {static_cast<std::byte*>(of.data), of.byte_size};
  }
  [[nodiscard]] std::span<std::byte> memory_of(ElementType type) const {
    const ephost_value_info of = info();
    const bool has_elements = of.kind == EPHOST_KIND_TENSOR && of.data != nullptr &&
                              of.element_type == static_cast<int32_t>(type);
    if (!has_elements) return {};
    return {static_cast<std::byte*>(of.data), of.byte_size};
  }

  detail::Owned<ephost_value, Release> handle_;
};

// A plain value. `Value::of_sparse` checks it. Elements that are not stated are zero, false or
// empty text; of those that are stated twice, the last one counts.
struct SparseTensor {
  SparseFormat format = SparseFormat::kCoo;
  std::vector<int64_t> shape;  // of the dense form; with two extents unless the format is kCoo
  // A tensor of one dimension, of any type whose elements are whole bytes, or of strings. With
  // kBlockSparse of three: blocks, and the extents of a block, which divide those of the shape.
  Value values;
  // kCoo: for each value its place in row-major order, or its index in each dimension.
  // kCsr: for each value its column.
  // kBlockSparse: for each block its row and its column, counted in blocks.
  std::vector<int64_t> indices;
  // kCsr only: for each row the number of values before it, and the number of all values.
  std::vector<int64_t> outer_indices;
};

inline Result<Value> Value::of_sparse(const SparseTensor& sparse) {
  return make([&](ephost_value** value) {
    return detail::api().value->create_sparse_tensor(
        static_cast<int32_t>(sparse.format), sparse.shape.data(), sparse.shape.size(),
        sparse.values.handle(), sparse.indices.data(), sparse.indices.size(),
        sparse.outer_indices.data(), sparse.outer_indices.size(), value);
  });
}

// A value with the name of the graph input or output it is for.
struct NamedValue {
  std::string name;
  Value value;
};

}  // namespace v1

namespace detail {

// Named values as the C API takes them. Borrows them.
struct NamedValueViews {
  explicit NamedValueViews(std::span<const NamedValue> given)
      : names(given, [](const NamedValue& item) { return item.name.c_str(); }),
        values(given, [](const NamedValue& item) { return item.value.handle(); }) {}

  SmallArray<const char*> names;
  SmallArray<const ephost_value*> values;
};

}  // namespace detail
}  // namespace ephost
