// The functions by which a plugin could end a program past all handlers of exit. The program
// exports its own, which plugins find first.
#include <cstdlib>

#include "host/plugin/exit_guard.h"

extern "C" {

[[noreturn]] void _exit(int status) { ephost::plugin::end_process("_exit", status); }

[[noreturn]] void _Exit(int status) noexcept { ephost::plugin::end_process("_Exit", status); }

}  // extern "C"
