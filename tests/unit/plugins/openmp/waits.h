// The processor time of a thread that waits at a barrier, for tests of active waiting; it does not
// depend on what else the machine does.
#pragma once

#include <gtest/gtest.h>
#include <omp.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "plugins/openmp/bounded_waits.h"

namespace ephost::openmp_testing {

inline double thread_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The least of what a thread spends while another one comes 30 milliseconds late to a barrier.
inline double wait_seconds() {
  double least = 1;
  for (int i = 0; i < 3; ++i) {
    const double before = thread_seconds();
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    least = std::min(least, thread_seconds() - before);
  }
  return least;
}

// For tests of what makes threads of OpenMP sleep; skipped where they sleep anyway.
class WaitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {
      if (std::getenv(name) != nullptr) GTEST_SKIP() << name << " says how threads wait";
    }
    if (ephost_openmp::processor_count() < 2) GTEST_SKIP() << "one processor: they never spin";
    active_ = wait_seconds();
    if (active_ < 1e-3) GTEST_SKIP() << "this OpenMP does not spin";
  }

  // Waits until threads sleep, or spin, at barriers: they start late on a busy machine.
  [[nodiscard]] bool begin_to_sleep() const {
    for (int i = 0; i < 50; ++i) {
      if (wait_seconds() < active_ / 4) return true;
    }
    return false;
  }
  [[nodiscard]] bool begin_to_spin() const {
    for (int i = 0; i < 50; ++i) {
      if (wait_seconds() > active_ / 4) return true;
    }
    return false;
  }

 private:
  double active_ = 0;
};

}  // namespace ephost::openmp_testing
