// Values and how they are made, as the package's OrtValue and SparseTensor need them.
#include <ephost/element_info.h>
#include <ephost/value.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "host/python/extension/arrays.h"

namespace ephost::python {
namespace {

using Shape = std::vector<int64_t>;

ElementType type_of(int number) { return static_cast<ElementType>(number); }

// Memory of `buffer`, an array of bytes, that is shared.
Value of_bytes(int type, const Shape& shape, py::array_t<uint8_t, py::array::c_style> buffer) {
  auto* const data = reinterpret_cast<std::byte*>(const_cast<uint8_t*>(buffer.data()));
  const std::span<std::byte> memory(data, static_cast<size_t>(buffer.nbytes()));
  return value_of(Value::share(type_of(type), shape, memory, keep_memory(std::move(buffer))));
}

// Memory of the program, which must outlive the value.
Value of_address(int type, const Shape& shape, uintptr_t address) {
  const auto bytes = tensor_bytes(type_of(type), shape);
  if (!bytes) {
    raise_if_failed({StatusCode::kInvalidArgument,
                     "a tensor of strings, or of an impossible shape, cannot be bound by address"});
  }
  return value_of(
      Value::borrow(type_of(type), shape, {reinterpret_cast<std::byte*>(address), *bytes}));
}

Value of_strings(const Shape& shape, const std::vector<py::bytes>& texts) {
  std::vector<std::string> strings(texts.begin(), texts.end());
  return value_of(Value::of_strings(shape, strings));
}

std::vector<py::bytes> strings(const Value& value) {
  const std::vector<std::string> texts = value.strings();
  return {texts.begin(), texts.end()};
}

Value of_sparse(int format, const Shape& shape, const Value& values, std::vector<int64_t> indices,
                std::vector<int64_t> outer_indices) {
  return value_of(Value::of_sparse({.format = static_cast<SparseFormat>(format),
                                    .shape = shape,
                                    .values = values,
                                    .indices = std::move(indices),
                                    .outer_indices = std::move(outer_indices)}));
}

MemoryInfo memory_of(const std::string& name, const std::string& device_type, int device_id) {
  return {.name = name, .device_type = device_type, .device_id = device_id};
}

// A tensor in the memory of a device.
Value allocate_in(const std::string& name, const std::string& device_type, int device_id, int type,
                  const Shape& shape) {
  return value_of(Value::allocate(memory_of(name, device_type, device_id), type_of(type), shape));
}

// What the program sees as the tensor's address.
uintptr_t address_of(const Value& value) {
  const void* const on_device = value.device_data();
  return reinterpret_cast<uintptr_t>(on_device != nullptr ? on_device : value.bytes().data());
}

py::array bytes_of(const Value& value) {
  return array_over(value, py::dtype::of<uint8_t>(),
                    {static_cast<py::ssize_t>(value.bytes().size())});
}

// Copies an array's elements into the tensor.
void update(Value& value, const py::array& array) {
  const Value given = value_of_array(array);
  const auto same = [&] {
    return given.element_type() == value.element_type() &&
           std::ranges::equal(given.shape(), value.shape());
  };
  if (!same()) {
    raise_if_failed({StatusCode::kInvalidArgument,
                     "the array has another dtype or shape than the tensor; a tensor is updated "
                     "from an array of the same"});
  }
  raise_if_failed(value.copy_from(given));  // the array may be a view of the value
}

}  // namespace

void bind_values(py::module_& module) {
  // Loads numpy's functions while no other thread can want them.
  [[maybe_unused]] const py::dtype first("f4");
  py::class_<Value>(module, "Value")
      .def(py::init<>())
      .def_static("of_array", &value_of_array, py::arg("array"))
      .def_static("of_bytes", &of_bytes, py::arg("element_type"), py::arg("shape"),
                  py::arg("bytes"))
      .def_static("of_address", &of_address, py::arg("element_type"), py::arg("shape"),
                  py::arg("address"))
      .def_static("of_strings", &of_strings, py::arg("shape"), py::arg("strings"))
      .def_static(
          "allocate",
          [](int type, const Shape& shape) {
            return value_of(Value::allocate(type_of(type), shape));
          },
          py::arg("element_type"), py::arg("shape"))
      .def_static("allocate_in", &allocate_in, py::arg("memory"), py::arg("device_type"),
                  py::arg("device_id"), py::arg("element_type"), py::arg("shape"))
      .def_static(
          "sequence",
          [](const std::vector<Value>& elements, int type) {
            return value_of(Value::sequence(elements, type_of(type)));
          },
          py::arg("elements"), py::arg("element_type") = 0)
      .def_static(
          "map",
          [](const Value& keys, const Value& values) { return value_of(Value::map(keys, values)); },
          py::arg("keys"), py::arg("values"))
      .def_static("sparse", &of_sparse, py::arg("format"), py::arg("shape"), py::arg("values"),
                  py::arg("indices"), py::arg("outer_indices") = std::vector<int64_t>())
      .def_static("of_dlpack", &value_of_dlpack, py::arg("capsule"), py::arg("is_bool") = false)
      .def_property_readonly("kind",
                             [](const Value& value) { return static_cast<int>(value.kind()); })
      .def_property_readonly(
          "element_type", [](const Value& value) { return static_cast<int>(value.element_type()); })
      .def_property_readonly(
          "shape",
          [](const Value& value) { return Shape(value.shape().begin(), value.shape().end()); })
      .def_property_readonly("nbytes", [](const Value& value) { return value.byte_size(); })
      .def_property_readonly("address", &address_of)
      .def_property_readonly("memory", [](const Value& value) { return value.memory_info(); })
      .def(
          "copy_to",
          [](const Value& value, const std::string& name, const std::string& device_type,
             int device_id) {
            return value_of(value.copy_to(memory_of(name, device_type, device_id)));
          },
          py::arg("memory"), py::arg("device_type"), py::arg("device_id"))
      .def("parts", [](const Value& value) { return value.parts(); })
      .def("strings", &strings)
      .def("bytes", &bytes_of)
      .def("object", [](const Value& value) { return object_of(value); })
      .def("dlpack", [](const Value& value) { return dlpack_of(value); })
      .def("update", &update, py::arg("array"))
      .def("dense", [](const Value& value) { return value_of(value.to_dense()); });

  module.def("is_uint8_dlpack", &is_uint8_dlpack, py::arg("capsule"));
  module.def(
      "element_type_name", [](int type) { return std::string(element_type_name(type_of(type))); },
      py::arg("element_type"));
  module.def(
      "element_bits", [](int type) { return element_bits(type_of(type)); },
      py::arg("element_type"));
  module.def(
      "element_type_of",
      [](const py::dtype& dtype) { return static_cast<int>(element_type_of(dtype)); },
      py::arg("dtype"));
  module.def(
      "dtype_of",
      [](int type) -> py::object {
        if (!has_dtype(type_of(type))) return py::none();
        return dtype_of(type_of(type));
      },
      py::arg("element_type"));
}

}  // namespace ephost::python
