// A flag that Ctrl-C sets, for work that must end in an orderly way.
#pragma once

#include <atomic>
#include <csignal>

namespace ephost::cli {

// While it lives, the first SIGINT or SIGTERM sets the flag and the second one ends the process.
// There may be one object at a time.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  [[nodiscard]] const std::atomic<bool>* flag() const;

 private:
  struct sigaction old_interrupt_ = {};
  struct sigaction old_terminate_ = {};
};

// The signal that has set the flag of the last Interrupt; 0 if none has.
[[nodiscard]] int interrupting_signal();

}  // namespace ephost::cli
