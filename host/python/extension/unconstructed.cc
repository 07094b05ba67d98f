// Objects that no __init__ has made: those of Class.__new__(Class), and of a class of Python whose
// __init__ does not call that of its base. pybind11 hands out memory that nothing has initialised
// for them.
#include <string>

#include "host/python/extension/objects.h"

namespace ephost::python {
namespace {

// In the place of the allocation, which comes first wherever such an object is used.
void* refuse(size_t /*size*/) {
  throw py::type_error(
      "the object has no __init__ behind it; make objects by calling their class, and call "
      "super().__init__() in derived classes");
}

// pickle of protocol 0 would call pybind11's base class, which ends the process.
void refuse_to_pickle(const py::object& self, const py::args& /*protocol*/) {
  throw py::type_error("cannot pickle '" +
                       py::str(py::type::of(self).attr("__name__")).cast<std::string>() +
                       "' objects");
}

}  // namespace

void refuse_unconstructed_objects(const py::module_& module) {
  for (const auto& [name, object] : module.attr("__dict__").cast<py::dict>()) {
    if (PyType_Check(object.ptr()) == 0) continue;
    auto* const type = py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(object.ptr()));
    if (type == nullptr) continue;
    type->operator_new = &refuse;
    for (const char* method : {"__reduce__", "__reduce_ex__"}) {
      py::setattr(object, method,
                  py::cpp_function(&refuse_to_pickle, py::is_method(object), py::name(method)));
    }
  }
}

}  // namespace ephost::python
