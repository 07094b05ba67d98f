#include "host/session/tools/plugin_exit.h"

#include "host/plugin/calls/exit_guard.h"

namespace ephost::session {

void guard_against_plugin_exit(int failure_status) { plugin::arm_exit_guard(failure_status); }

void end_process(const char* function, int status) noexcept {
  plugin::end_process(function, status);
}

}  // namespace ephost::session
