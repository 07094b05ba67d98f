// SIGINT during calls of the host.
#include <cerrno>
#include <csignal>

#include "host/python/extension/objects.h"

namespace ephost::python {
namespace {

// Changed by the main thread only, while the handler is not installed or cannot mind.
std::atomic<Cancellation*> target = nullptr;
struct sigaction previous = {};

void on_interrupt(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  if (Cancellation* work = target.load()) work->interrupt();
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
  errno = kept;
}

bool is_main_thread() {
  static unsigned long main_thread = 0;  // needs the GIL
  if (main_thread == 0) {
    main_thread =
        py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  }
  return PyThread_get_thread_ident() == main_thread;
}

// False where the program ignores SIGINT or lets it end the process.
bool install() {
  struct sigaction current = {};
  if (sigaction(SIGINT, nullptr, &current) != 0) return false;
  // Code that kept the handler of an earlier call has put it back.
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_interrupt) return true;
  previous = current;
  if ((previous.sa_flags & SA_SIGINFO) == 0 &&
      (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) {
    return false;
  }
  struct sigaction ours = previous;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = on_interrupt;
  return sigaction(SIGINT, &ours, nullptr) == 0;
}

// Puts the handler back, unless a function of the program has installed another one meanwhile.
void uninstall() {
  struct sigaction current = {};
  if (sigaction(SIGINT, &previous, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_interrupt) return;
  sigaction(SIGINT, &current, nullptr);
}

}  // namespace

InterruptScope::InterruptScope(Cancellation& cancellation) {
  if (!is_main_thread()) return;
  enclosing_ = target.load();
  is_active_ = enclosing_ != nullptr || install();
  if (is_active_) target = &cancellation;
}

InterruptScope::~InterruptScope() {
  if (!is_active_) return;
  target = enclosing_;
  if (enclosing_ == nullptr) uninstall();
}

}  // namespace ephost::python
