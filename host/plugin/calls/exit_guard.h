// For programs: a plugin that ends the process, with any status, must not look like success. The
// running calls (call_scope.h) tell which plugin did, and crash_records.h records it.
#pragma once

#include <string_view>

namespace ephost::plugin {

struct CallSite;

// From now on, if a plugin calls exit or quick_exit or ends a thread, this process ends with an
// error that names plugin and call, and with `failure_status`. Child processes are not guarded
// until they call this themselves. Cannot be undone.
void arm_exit_guard(int failure_status);

// Takes "the plugin called exit(3) in ...". Called once by the thread that ends the process.
using ExitReport = void (*)(std::string_view text) noexcept;

// For a process that another one watches, which is told by `report` and by the status: as
// arm_exit_guard, but the process ends with the status that the plugin has given (1 at the end of a
// thread), and writes nothing.
void report_plugin_exits(ExitReport report);

// The body of the _exit and _Exit that a program exports so that plugins call them: ends the
// process at once, with the failure status if a plugin calls it. `function` is the name that was
// called.
[[noreturn]] void end_process(const char* function, int status) noexcept;

// To be called when a plugin ends the thread that called it (pthread_exit). Returns if the process
// is not guarded.
void guard_thread_end(const CallSite& site) noexcept;

}  // namespace ephost::plugin
