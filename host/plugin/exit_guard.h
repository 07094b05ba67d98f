// For programs: a plugin that ends the process, with whatever status, must not look like success.
// What it calls is found out by the calls that are under way (call_scope.h).
#pragma once

namespace ephost::plugin {

struct CallSite;

// From now on exit and quick_exit, and the end of a thread, by a plugin end this process with an
// error that names plugin and call, and with `failure_status`. Child processes are not guarded
// until they call this themselves. Cannot be undone.
void arm_exit_guard(int failure_status);

// What a program's own _exit and _Exit do, which it exports so that plugins call these: ends the
// process at once, with the failure where a plugin calls it. `function` is its name.
[[noreturn]] void end_process(const char* function, int status) noexcept;

// To be called when a plugin ends the thread that called it (pthread_exit): returns where nothing
// is guarded.
void guard_thread_end(const CallSite& site) noexcept;

}  // namespace ephost::plugin
