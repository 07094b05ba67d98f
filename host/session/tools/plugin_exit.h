// A guard for programs against plugins that end the process (<ephost/plugin_exit.h>).
#pragma once

namespace ephost::session {

void guard_against_plugin_exit(int failure_status);

[[noreturn]] void end_process(const char* function, int status) noexcept;

}  // namespace ephost::session
