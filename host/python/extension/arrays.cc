#include "host/python/extension/arrays.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ephost::python {
namespace {

constexpr int kAligned = py::detail::npy_api::NPY_ARRAY_ALIGNED_;
constexpr int kRowMajor = py::array::c_style;

ElementType float_of(py::ssize_t size) {
  if (size == 2) return ElementType::kFloat16;
  if (size == 4) return ElementType::kFloat;
  return size == 8 ? ElementType::kDouble : ElementType::kUndefined;
}

ElementType signed_of(py::ssize_t size) {
  if (size == 1) return ElementType::kInt8;
  if (size == 2) return ElementType::kInt16;
  return size == 4 ? ElementType::kInt32 : ElementType::kInt64;
}

ElementType unsigned_of(py::ssize_t size) {
  if (size == 1) return ElementType::kUint8;
  if (size == 2) return ElementType::kUint16;
  return size == 4 ? ElementType::kUint32 : ElementType::kUint64;
}

const char* format_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
      return "f4";
    case ElementType::kUint8:
      return "u1";
    case ElementType::kInt8:
      return "i1";
    case ElementType::kUint16:
      return "u2";
    case ElementType::kInt16:
      return "i2";
    case ElementType::kInt32:
      return "i4";
    case ElementType::kInt64:
      return "i8";
    case ElementType::kBool:
      return "?";
    case ElementType::kFloat16:
      return "f2";
    case ElementType::kDouble:
      return "f8";
    case ElementType::kUint32:
      return "u4";
    case ElementType::kUint64:
      return "u8";
    case ElementType::kComplex64:
      return "c8";
    case ElementType::kComplex128:
      return "c16";
    default:
      return nullptr;
  }
}

const py::module_& values_module() {
  // Made with the GIL instead of under C++'s lock of a static object, which a thread that waits for
  // it would hold the GIL for. Never destroyed: the interpreter may be gone by then.
  static const py::module_* module = nullptr;
  if (module == nullptr) module = new py::module_(py::module_::import("ephost._values"));
  return *module;
}

}  // namespace

ElementType element_type_of(const py::dtype& dtype) {
  if (dtype.byteorder() == '>' || dtype.has_fields()) return ElementType::kUndefined;
  const py::ssize_t size = dtype.itemsize();
  switch (dtype.kind()) {
    case 'f':
      return float_of(size);
    case 'i':
      return signed_of(size);
    case 'u':
      return unsigned_of(size);
    case 'b':
      return ElementType::kBool;
    case 'c':
      if (size == 8) return ElementType::kComplex64;
      return size == 16 ? ElementType::kComplex128 : ElementType::kUndefined;
    default:
      return ElementType::kUndefined;
  }
}

bool has_dtype(ElementType type) { return format_of(type) != nullptr; }

py::dtype dtype_of(ElementType type) {
  constexpr size_t kTypes = 32;
  static auto* const known = new std::array<py::object, kTypes>;
  py::object& dtype = known->at(static_cast<size_t>(type));
  if (!dtype) dtype = py::dtype(format_of(type));
  return py::reinterpret_borrow<py::dtype>(dtype);
}

std::shared_ptr<const void> keep_memory(py::array array) {
  py::object owner = array;
  for (py::object base = array.base(); base && py::isinstance<py::array>(base);
       base = py::reinterpret_borrow<py::array>(base).base()) {
    owner = base;
  }
  return keep(py::make_tuple(std::move(array), py::weakref(owner)));
}

Value value_of_array(py::array array) {
  const ElementType type = element_type_of(array.dtype());
  constexpr int kShared = kAligned | kRowMajor;
  if ((array.flags() & kShared) != kShared) {
    array = py::array::ensure(values_module().attr("copy")(array));
    if (!array) throw py::error_already_set();
  }
  const std::vector<int64_t> shape(array.shape(), array.shape() + array.ndim());
  auto* const data = static_cast<std::byte*>(const_cast<void*>(array.data()));
  const std::span<std::byte> memory(data, static_cast<size_t>(array.nbytes()));
  return value_of(Value::share(type, shape, memory, keep_memory(std::move(array))));
}

Value value_of_object(const py::object& object, const ValueDescription* description) {
  const py::object text =
      description == nullptr ? py::object(py::none()) : py::object(py::str(description->type));
  return values_module().attr("value_of")(object, text).cast<Value>();
}

py::array array_over(Value value, const py::dtype& dtype, std::vector<py::ssize_t> shape) {
  auto kept = std::make_unique<Value>(std::move(value));
  const void* const data = kept->bytes().data();
  const py::capsule owner(kept.get(),
                          [](void* kept_value) { delete static_cast<Value*>(kept_value); });
  static_cast<void>(kept.release());
  // Without elements there may be no memory, for which numpy would allocate some.
  return {dtype, std::move(shape), data, owner};
}

py::object object_of(Value value) {
  if (value.device_data() != nullptr) value = value_of(value.copy_to(MemoryInfo::cpu()));
  if (value.kind() != ValueKind::kTensor) return values_module().attr("object_of")(value);
  const ElementType type = value.element_type();
  if (!has_dtype(type)) return values_module().attr("object_of")(value);
  const std::span<const int64_t> extents = value.shape();
  std::vector<py::ssize_t> shape(extents.begin(), extents.end());
  return array_over(std::move(value), dtype_of(type), std::move(shape));
}

}  // namespace ephost::python
