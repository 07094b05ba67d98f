// Common parts of the extension: failures as Python exceptions, Python objects that the
// host keeps, calls that Ctrl-C ends, and the functions that add each subject to the module.
#pragma once

#include <ephost/status.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/python/extension/gil.h"

namespace ephost::python {

// Raises a failure as the exception of its code (errors.py). Needs the GIL.
void raise_if_failed(const Status& status);

template <class T>
T value_of(Result<T> result) {
  raise_if_failed(result.status());
  return std::move(result).value();
}

// A getter of a member that is a path, which Python gets as one.
template <class Record>
auto path_of(std::string Record::*member) {
  return [member](const Record& self) { return std::filesystem::path(self.*member); };
}

// Keeps the object until the last copy of the pointer is gone, whichever thread has it then.
[[nodiscard]] std::shared_ptr<const void> keep(py::object object);

// A flag that ends a run or the creation of a session, set by the program, by Ctrl-C, or by both.
// Safe to use from any thread.
class Cancellation {
 public:
  // What the program asks for.
  void request(bool value);
  [[nodiscard]] bool is_requested() const { return requested_; }
  // What the handler of SIGINT does.
  void interrupt();
  // Whether that was done. Leaves only what the program asks for.
  [[nodiscard]] bool take_interrupt();
  // What the host looks at.
  [[nodiscard]] const std::atomic<bool>& flag() const { return flag_; }

 private:
  std::atomic<bool> requested_ = false;
  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> flag_ = false;
};

// A run in the background, which calls Python when it is over. The interpreter waits for it before
// it ends.
class BackgroundWork {
 public:
  // `cancellation` has to last until `begin_callback`.
  BackgroundWork(const void* owner, Cancellation& cancellation);
  ~BackgroundWork();
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;
  // The run is over; what remains is a function of the program, which may release the owner.
  void begin_callback();
};
// Returns when the runs of the owner are over. Ctrl-C ends them, and is then Python's. Needs the
// GIL, and gives it up.
void wait_for_background_runs(const void* owner);

// What a function of the program raised during a call of the host. It is raised again when the call
// is over, in place of the failure that it led to.
class CallbackError {
 public:
  // For catch blocks; needs the GIL.
  void keep(py::error_already_set& error) {
    if (!error_) error_.emplace(std::move(error));
  }
  void raise_if_set() {
    if (!error_) return;
    py::error_already_set error = *std::move(error_);
    error_.reset();
    throw error;
  }

 private:
  std::optional<py::error_already_set> error_;
};

// While it lives, SIGINT ends the work, and is handled by Python as usual. Does something on
// Python's main thread only, where Python handles signals, and only where the program handles
// SIGINT at all.
class InterruptScope {
 public:
  explicit InterruptScope(Cancellation& cancellation);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  bool is_active_ = false;
  Cancellation* enclosing_ = nullptr;
};

// Calls `work`, which has to look at the flag of `cancellation`, without the GIL. Where Ctrl-C
// ended it, raises what Python's handler raises; if that raises nothing, the work is done once
// more.
template <class Work>
auto interruptible(Cancellation& cancellation, CallbackError& error, const Work& work)
    -> decltype(work()) {
  for (;;) {
    auto result = [&] {
      const InterruptScope scope(cancellation);
      const GilRelease released;
      return work();
    }();
    const bool was_interrupted = cancellation.take_interrupt();
    error.raise_if_set();
    if (!was_interrupted) return result;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (result.ok()) return result;
  }
}
template <class Work>
auto interruptible(Cancellation& cancellation, const Work& work) -> decltype(work()) {
  CallbackError none;
  return interruptible(cancellation, none, work);
}

// Makes it a TypeError to use an object of the module's classes that no __init__ has made.
void refuse_unconstructed_objects(const py::module_& module);

void bind_values(py::module_& module);
void bind_environment(py::module_& module);
void bind_options(py::module_& module);
void bind_session(py::module_& module);
void bind_compilation(py::module_& module);
void bind_reports(py::module_& module);

}  // namespace ephost::python
