#include "host/cli/arguments/interrupt.h"

namespace ephost::cli {

namespace {

std::atomic<bool> is_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

std::atomic<int> signal_number = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler sets it");

void note_signal(int signal) {
  signal_number.store(signal, std::memory_order_relaxed);
  is_interrupted.store(true, std::memory_order_relaxed);
}

}  // namespace

Interrupt::Interrupt() {
  is_interrupted = false;
  signal_number = 0;
  struct sigaction action = {};
  action.sa_handler = &note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, &old_interrupt_);
  ::sigaction(SIGTERM, &action, &old_terminate_);
}

Interrupt::~Interrupt() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
}

const std::atomic<bool>* Interrupt::flag() const { return &is_interrupted; }

int interrupting_signal() { return signal_number.load(std::memory_order_relaxed); }

}  // namespace ephost::cli
