#include "host/python/extension/objects.h"

#include <condition_variable>
#include <mutex>

namespace ephost::python {
namespace {

std::atomic<bool> ends = false;

struct Work {
  std::mutex mutex;
  std::condition_variable none;
  int count = 0;
};
Work& work() {
  static auto* const shared = new Work;  // threads may outlive static objects
  return *shared;
}

// Runs at the exit of the interpreter, while other threads can still have the GIL.
void wait_for_background_work() {
  {
    const py::gil_scoped_release released;
    std::unique_lock lock(work().mutex);
    work().none.wait(lock, [] { return work().count == 0; });
  }
  ends = true;
}

}  // namespace

void raise_if_failed(const Status& status) {
  if (status.ok()) return;
  const py::object error =
      py::module_::import("ephost._errors")
          .attr("error_of")(static_cast<int>(status.code()), py::bytes(status.to_string()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

std::shared_ptr<const void> keep(py::object object) {
  return {object.release().ptr(), [](PyObject* kept) {
            if (ends && PyGILState_Check() == 0) return;
            const py::gil_scoped_acquire acquired;
            Py_DECREF(kept);
          }};
}

bool interpreter_ends() { return ends; }

BackgroundWork::BackgroundWork() {
  const std::lock_guard lock(work().mutex);
  ++work().count;
}

BackgroundWork::~BackgroundWork() {
  const std::lock_guard lock(work().mutex);
  if (--work().count == 0) work().none.notify_all();
}

void Cancellation::request(bool value) {
  requested_ = value;
  flag_ = value;
}

void Cancellation::interrupt() {
  interrupted_ = true;
  flag_ = true;
}

bool Cancellation::take_interrupt() {
  if (!interrupted_.exchange(false)) return false;
  flag_ = false;
  if (requested_) flag_ = true;
  return true;
}

}  // namespace ephost::python

PYBIND11_MODULE(_ephost, module) {
  using namespace ephost::python;
  module.doc() = "The extension behind the package ephost; use that.";
  module.attr("version") = EPHOST_VERSION;
  bind_values(module);
  bind_environment(module);
  bind_options(module);
  bind_session(module);
  bind_compilation(module);
  bind_reports(module);
  py::module_::import("atexit").attr("register")(py::cpp_function(wait_for_background_work));
}
