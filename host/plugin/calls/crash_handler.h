// A handler of crashes that prints one line on standard error with the plugin call during which the
// process crashed, and records the crash (crash_records.h), unless memory of the application was
// the reason. Everything else stays as without it: core dumps, the exit status, and the handlers of
// the application, a sanitizer or an interpreter.
#pragma once

#include <cstddef>

namespace ephost::plugin {

// While any of these lives, the process has handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and
// SIGABRT, which print the current call and pass the signal on to the previous handler. Outside of
// calls they print nothing, unless the address lies in a range that has a name
// (host/base/named_ranges.h). The last object restores the handlers that the first one found,
// except where another handler was installed since then.
class CrashHandler {
 public:
  CrashHandler();
  CrashHandler(const CrashHandler&) = delete;
  CrashHandler& operator=(const CrashHandler&) = delete;
  ~CrashHandler();

  [[nodiscard]] static bool is_installed() noexcept;
};

// A stack for the handlers of a thread, whose own stack may have overflowed. A thread that already
// has one keeps it. Created and destroyed by the thread that it serves.
class SignalStack {
 public:
  SignalStack() = default;
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

  void set_up();

 private:
  void* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ephost::plugin
