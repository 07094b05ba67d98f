// Threads of the host that handle no signals.
#pragma once

#include <csignal>

namespace ephost {

// While it lives, the calling thread gets no signals, and neither do the threads that it starts,
// ever: signals belong to the threads of the application.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked();

 private:
  sigset_t before_;
};

}  // namespace ephost
