// bounded_waits.h: a bound on the active waiting of OpenMP's threads at barriers, whichever library
// loaded the runtime.
//
// libgomp's threads wait actively for up to some 15 milliseconds at each barrier, and for some
// microseconds when the runtime has more threads than the machine has processors. It reads the
// variables for that when it is loaded, which can be long before a plugin is. So this adds threads
// that do nothing, as many as it takes. With another runtime than libgomp they have no effect.
#pragma once

#include <memory>

namespace ephost_openmp {

class BoundedWaits {
 public:
  BoundedWaits();
  BoundedWaits(const BoundedWaits&) = delete;
  BoundedWaits& operator=(const BoundedWaits&) = delete;
  ~BoundedWaits();

  // From now on, for parallel regions of at least that many threads, or not any more if it is 0.
  // Does nothing if the user has said how threads wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT,
  // KMP_BLOCKTIME), or if the system has no more threads. By one thread at a time.
  void apply_to(int team);

 private:
  class Idlers;
  void start(int count);

  std::unique_ptr<Idlers> idlers_;  // null while waits are as the runtime has them
  int idle_threads_ = 0;
  const bool is_allowed_;
  const int processors_;
};

// The processors that OpenMP counts.
[[nodiscard]] int processor_count();

}  // namespace ephost_openmp
