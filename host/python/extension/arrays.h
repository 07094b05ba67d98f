// Arrays of numpy and values of the host, in memory that both share where that is possible.
#pragma once

#include <ephost/session.h>
#include <ephost/value.h>
#include <pybind11/numpy.h>

#include <memory>
#include <vector>

#include "host/python/extension/objects.h"

namespace ephost::python {

// The element type that an array's elements have as they lie in memory; kUndefined for dtypes that
// need a conversion: strings, other byte orders, and those that numpy does not have itself.
[[nodiscard]] ElementType element_type_of(const py::dtype& dtype);
// The reverse; only for the types that the function above gives.
[[nodiscard]] py::dtype dtype_of(ElementType type);
[[nodiscard]] bool has_dtype(ElementType type);

// The value of an array whose dtype has an element type. It shares the memory of an array that is
// aligned and row-major, and of a copy otherwise.
[[nodiscard]] Value value_of_array(py::array array);
// Keeps an array, and the memory that it has now: numpy resizes no array with a weak reference.
[[nodiscard]] std::shared_ptr<const void> keep_memory(py::array array);
// The value of anything else that a run may be given (values.py). `description` is that of its
// input.
[[nodiscard]] Value value_of_object(const py::object& object, const ValueDescription* description);

// An array, or a list, a dict or None, in the memory of the value.
[[nodiscard]] py::object object_of(Value value);
// A tensor with a dtype, or its bytes as uint8.
[[nodiscard]] py::array array_over(Value value, const py::dtype& dtype,
                                   std::vector<py::ssize_t> shape);

// DLPack's capsule of a tensor, and the tensor of one.
[[nodiscard]] py::capsule dlpack_of(Value value);
[[nodiscard]] Value value_of_dlpack(const py::object& capsule, bool is_bool);
// Whether its elements are bytes, which may be truth values. The capsule is not used up.
[[nodiscard]] bool is_uint8_dlpack(const py::object& capsule);

}  // namespace ephost::python
