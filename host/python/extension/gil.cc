#include "host/python/extension/gil.h"

#include <chrono>
#include <thread>

namespace ephost::python {

void wait_for_end_of_process() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(24));
}

py::object call_function(py::handle function, const py::tuple& arguments) {
  PyObject* result = nullptr;
  try {
    result = PyObject_CallObject(function.ptr(), arguments.ptr());
  } catch (abi::__forced_unwind&) {
    wait_for_end_of_process();
  }
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

GilRelease::~GilRelease() {
  try {
    PyEval_RestoreThread(state_);
  } catch (abi::__forced_unwind&) {
    wait_for_end_of_process();
  }
}

GilAcquire::GilAcquire() {
  if (!interpreter_lives() && PyGILState_Check() == 0) wait_for_end_of_process();
  try {
    acquired_.emplace();
  } catch (abi::__forced_unwind&) {
    wait_for_end_of_process();
  }
}

}  // namespace ephost::python
