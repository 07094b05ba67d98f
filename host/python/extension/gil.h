// The GIL for code that may run when the interpreter ends. CPython (before 3.14) ends a thread that
// wants the GIL then by unwinding it, which no destructor and no function of C survives: the
// process would be terminated. Such a thread waits for the end of the process instead.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>

#include <optional>

namespace ephost::python {

namespace py = pybind11;

// Whether objects of Python can still be used. Needs no GIL.
[[nodiscard]] inline bool interpreter_lives() { return Py_IsInitialized() != 0; }

// Gives up the GIL while it lives.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

// Has the GIL while it lives, in any thread.
class GilAcquire {
 public:
  GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  std::optional<py::gil_scoped_acquire> acquired_;
};

// Does in Python what `work` does, in a thread that a function of the program keeps busy perhaps
// until the interpreter ends.
[[noreturn]] void wait_for_end_of_process();
template <class Work>
void in_python(const Work& work) {
  const GilAcquire acquired;
  try {
    work();
  } catch (abi::__forced_unwind&) {
    wait_for_end_of_process();
  }
}
// Calls an object of Python with a tuple of arguments, from such work.
[[nodiscard]] py::object call_function(py::handle function, const py::tuple& arguments);

}  // namespace ephost::python
