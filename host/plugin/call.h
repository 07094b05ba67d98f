// The way in which the host calls a function of a plugin: under a note of what is called
// (call_scope.h), and with whatever it throws turned into an error that names provider and slot.
// The ABI forbids to throw, and its tables say noexcept; plugins are not compiled against that.
#pragma once

#include <cxxabi.h>

#include <type_traits>

#include "host/plugin/call_scope.h"
#include "host/plugin/exit_guard.h"

namespace ephost::plugin {

// To be called while an exception is handled: EP_FAIL, with its text.
[[nodiscard]] Status thrown_by(const CallSite& site) noexcept;

// For what cannot fail: the reason goes to the log.
void log_failure(const Status& status) noexcept;

// The end of a thread (pthread_exit) is caught as a reference to nothing, which is how libstdc++
// has it.
#define EPHOST_CATCHES_THREAD_END [[gnu::no_sanitize("null")]]

// What the slot returns, as a Result; a Status for void. `slot` may be declared noexcept, which
// is dropped here: otherwise what it throws would end the process without being seen.
template <class R, class... P, class... A>
EPHOST_CATCHES_THREAD_END auto call(const CallSite& site, R (*slot)(P...), A... arguments)
    -> std::conditional_t<std::is_void_v<R>, Status,
                          Result<std::conditional_t<std::is_void_v<R>, int, R>>> {
  CallScope scope(site);
  try {
    if constexpr (std::is_void_v<R>) {
      slot(arguments...);
      return scope.status();
    } else {
      const R result = slot(arguments...);
      EPHOST_RETURN_IF_ERROR(scope.status());
      return result;
    }
  } catch (abi::__forced_unwind&) {
    guard_thread_end(site);
    throw;
  } catch (...) {
    return thrown_by(site);
  }
}

// A slot that releases something, and so cannot fail.
template <class... P, class... A>
void call_release(const CallSite& site, void (*slot)(P...), A... arguments) {
  const Status status = call(site, slot, arguments...);
  if (!status.ok()) log_failure(status);
}

}  // namespace ephost::plugin
