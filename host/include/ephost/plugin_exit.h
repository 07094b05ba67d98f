// The exit status of programs: a plugin that ends the process must not make the program look
// successful.
#pragma once

#include <ephost/detail/api.h>

#include <cstdlib>

namespace ephost {
inline namespace v1 {

// From now on a call of exit, quick_exit or pthread_exit by a plugin ends this process with
// `failure_status`, after a line on standard error that names plugin and call. Child processes have
// to call this themselves. Cannot be undone.
inline void guard_against_plugin_exit(int failure_status) {
  detail::api().plugin->guard_against_exit(failure_status);
}

// For programs that export _exit and _Exit, so that plugins call theirs instead of the C library's:
// both call this. Ends the process at once, with the failure status if a plugin made the call.
// `function` is the name of the function that was called.
[[noreturn]] inline void end_process(const char* function, int status) noexcept {
  detail::api().plugin->end_process(function, status);
  std::abort();  // not reached
}

}  // namespace v1
}  // namespace ephost
