// Calls of plugin functions by the host: within a CallScope that records the call (call_scope.h),
// and with exceptions turned into an error that names provider and slot. The ABI forbids exceptions
// and declares its slots noexcept, but a plugin need not be compiled that way.
#pragma once

#include <cxxabi.h>

#include <type_traits>

#include "host/plugin/calls/call_scope.h"
#include "host/plugin/calls/exit_guard.h"

namespace ephost::plugin {

// To be called in an exception handler: EP_FAIL with the exception's text.
[[nodiscard]] Status thrown_by(const CallSite& site) noexcept;

// Logs a failure that cannot be returned.
void log_failure(const Status& status) noexcept;

// In libstdc++, the exception that ends a thread (pthread_exit) is caught as a null reference.
#if defined(__clang__)
#define EPHOST_CATCHES_THREAD_END [[clang::no_sanitize("null")]]
#else
#define EPHOST_CATCHES_THREAD_END [[gnu::no_sanitize("null")]]
#endif

// Calls `slot` and returns its result as a Result, or a Status for void. A noexcept in the type of
// `slot` is dropped here: otherwise an exception would terminate the process without a message.
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

// Calls a slot that releases something and cannot fail; an exception is logged.
template <class... P, class... A>
void call_release(const CallSite& site, void (*slot)(P...), A... arguments) {
  const Status status = call(site, slot, arguments...);
  if (!status.ok()) log_failure(status);
}

}  // namespace ephost::plugin
