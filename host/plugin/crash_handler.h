// Says on standard error what was being called of which plugin when the process crashed: one line,
// and then everything goes on as without it, so that core dumps, the exit status and the handlers
// of the application, a sanitizer or an interpreter are what they would have been.
#pragma once

#include <cstddef>

namespace ephost::plugin {

// While any of these lives, the process has handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and
// SIGABRT, which print the call that is under way and pass the signal on to the handler that was
// there before. Without a call under way they print nothing. The last one that goes puts back what
// the first one found; where somebody has installed a handler since then, that one stays.
class CrashHandler {
 public:
  CrashHandler();
  CrashHandler(const CrashHandler&) = delete;
  CrashHandler& operator=(const CrashHandler&) = delete;
  ~CrashHandler();

  [[nodiscard]] static bool is_installed() noexcept;
};

// A stack on which the handlers of a thread run, since its own may have overflowed. A thread that
// has one already keeps it. Made by a thread for itself, and destroyed by it.
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
