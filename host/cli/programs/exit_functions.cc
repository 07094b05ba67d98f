// The functions by which a plugin could end the program without its exit handlers. The program
// exports its own, which the loader binds plugins to.
#include <ephost/plugin_exit.h>

#include <cstdlib>

extern "C" {

[[gnu::noreturn]] void _exit(int status) { ephost::end_process("_exit", status); }

[[gnu::noreturn]] void _Exit(int status) noexcept { ephost::end_process("_Exit", status); }

}  // extern "C"
