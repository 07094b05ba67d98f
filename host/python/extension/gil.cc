#include "host/python/extension/gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace ephost::python {
namespace {

[[noreturn]] void wait_for_end_of_process() {
  for (;;) pause();
}

}  // namespace

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
