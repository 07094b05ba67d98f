#include "host/python/extension/objects.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace ephost::python {
namespace {

struct Work {
  const BackgroundWork* id;
  const void* owner;
  Cancellation* cancellation;  // null during the callback
  uint64_t number;             // in the order of the beginnings
};
struct AllWork {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Work> list;
  uint64_t begun = 0;
};
AllWork*& shared_work() {
  static auto* shared = new AllWork;  // threads may outlive static objects
  return shared;
}
AllWork& all() { return *shared_work(); }

// The runs of a process continue in itself and not in its children, which do not wait for them.
void forget_work_in_children() {
  pthread_atfork(nullptr, nullptr, [] { shared_work() = new AllWork; });
}

// Waits until no work is one of `which`, and ends the runs of these when Ctrl-C is pressed. Looks
// for that again and again, since a handler of signals can neither lock nor notify.
template <class Which>
void wait_until_none_is(const Which& which) {
  constexpr auto kPeriod = std::chrono::milliseconds(50);
  Cancellation cancellation;
  const InterruptScope scope(cancellation);
  const GilRelease released;
  std::unique_lock lock(all().mutex);
  const auto is_over = [&] { return std::ranges::none_of(all().list, which); };
  while (!all().changed.wait_for(lock, kPeriod, is_over)) {
    if (!cancellation.take_interrupt()) continue;
    for (const Work& one : all().list) {
      if (which(one) && one.cancellation != nullptr) one.cancellation->interrupt();
    }
  }
}

// Runs at the exit of the interpreter, while other threads can still have the GIL, and may begin
// runs again and again: those are not waited for.
void wait_at_exit() {
  const uint64_t begun = [] {
    const std::lock_guard lock(all().mutex);
    return all().begun;
  }();
  wait_until_none_is([begun](const Work& one) { return one.number < begun; });
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
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
            if (!interpreter_lives() && PyGILState_Check() == 0) return;
            const GilAcquire acquired;
            Py_DECREF(kept);
          }};
}

BackgroundWork::BackgroundWork(const void* owner, Cancellation& cancellation) {
  const std::lock_guard lock(all().mutex);
  all().list.push_back({this, owner, &cancellation, all().begun++});
}

BackgroundWork::~BackgroundWork() {
  const std::lock_guard lock(all().mutex);
  std::erase_if(all().list, [this](const Work& one) { return one.id == this; });
  all().changed.notify_all();
}

void BackgroundWork::begin_callback() {
  const std::lock_guard lock(all().mutex);
  const auto found = std::ranges::find(all().list, this, &Work::id);
  if (found != all().list.end()) found->cancellation = nullptr;
  all().changed.notify_all();
}

void wait_for_background_runs(const void* owner) {
  wait_until_none_is(
      [owner](const Work& one) { return one.owner == owner && one.cancellation != nullptr; });
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
  refuse_unconstructed_objects(module);
  forget_work_in_children();
  py::module_::import("atexit").attr("register")(py::cpp_function(wait_at_exit));
}
