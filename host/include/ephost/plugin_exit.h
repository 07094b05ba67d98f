// For programs: a plugin that ends the process, with whatever status, must not look like success.
#pragma once

namespace ephost {

// From now on a call of exit, quick_exit or pthread_exit by a plugin ends this process with
// `failure_status`, after a line on standard error that names plugin and call. Child processes have
// to call this themselves. Cannot be undone.
void guard_against_plugin_exit(int failure_status);

// What a program's own _exit and _Exit do, which it exports so that plugins call these: ends the
// process at once, with the failure status where a plugin calls it. `function` is the name of the
// function that was called.
[[noreturn]] void end_process(const char* function, int status) noexcept;

}  // namespace ephost
