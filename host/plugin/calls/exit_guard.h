// For programs: a plugin that ends the process, with any status, must not look like success. The
// running calls (call_scope.h) tell which plugin did.
#pragma once

namespace ephost::plugin {

struct CallSite;

// From now on, if a plugin calls exit or quick_exit or ends a thread, this process ends with an
// error that names plugin and call, and with `failure_status`. Child processes are not guarded
// until they call this themselves. Cannot be undone.
void arm_exit_guard(int failure_status);

// The body of the _exit and _Exit that a program exports so that plugins call them: ends the
// process at once, with the failure status if a plugin calls it. `function` is the name that was
// called.
[[noreturn]] void end_process(const char* function, int status) noexcept;

// To be called when a plugin ends the thread that called it (pthread_exit). Returns if the process
// is not guarded.
void guard_thread_end(const CallSite& site) noexcept;

}  // namespace ephost::plugin
